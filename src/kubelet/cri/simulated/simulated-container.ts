import type { Clock, TimerHandle } from '#base';
import { type ContainerConfig, type ContainerStatus, type LogEntry, type ProbeAnswer, RuntimeError } from '../runtime.ts';
import type { CommandScript } from './command-script.ts';
import type { ContainerScript, ScriptedLine } from './script.ts';

export interface SimulatedContainerOptions {
  readonly id: string;
  readonly sandboxId: string;
  readonly podUid: string;
  readonly config: ContainerConfig;
  readonly script: ContainerScript;
  /** What its command would do, where that is known and the script says nothing. */
  readonly command: CommandScript | undefined;
  readonly clock: Clock;
  readonly onChange: (container: SimulatedContainer, type: 'started' | 'stopped') => void;
}

const KILLED = 137;
const CANNOT_RUN = 128;
/** Lines of a container that logs at an interval and never ends are not kept for ever. */
const MAX_INTERVAL_LINES = 100_000;

/** A container as a state machine on the clock: created, running, exited. */
export class SimulatedContainer {
  state: 'created' | 'running' | 'exited' = 'created';
  readonly createdAtMs: number;
  startedAtMs: number | undefined;
  finishedAtMs: number | undefined;
  exitCode = 0;
  reason: string | undefined;
  message: string | undefined;
  #exitTimer: TimerHandle | undefined;
  #killTimer: TimerHandle | undefined;
  #killDueMs = Infinity;
  #isStopping = false;
  #whenEnded: (() => void)[] = [];

  constructor(readonly options: SimulatedContainerOptions) {
    this.createdAtMs = options.clock.now();
  }

  get status(): ContainerStatus {
    const { id, sandboxId, podUid, config } = this.options;
    const { name, attempt, image, imageRef, specHash } = config;
    const { state, createdAtMs, startedAtMs, finishedAtMs, exitCode, reason, message } = this;
    return {
      ...{ id, sandboxId, podUid, name, attempt, image, imageRef, specHash, state, createdAtMs },
      ...(startedAtMs !== undefined && { startedAtMs }),
      ...(state === 'exited' && { finishedAtMs: finishedAtMs ?? createdAtMs, exitCode }),
      ...(reason !== undefined && { reason }),
      ...(message !== undefined && { message }),
    };
  }

  async start(): Promise<void> {
    const { clock, script, config } = this.options;
    if (this.state !== 'created') throw new RuntimeError('invalid', `container ${this.options.id} is not in created state`);
    if (script.startTimeMs > 0) await clock.sleep(script.startTimeMs);
    if (this.state !== 'created') throw new RuntimeError('startFailed', 'the container was stopped before it had started');
    if (script.startError !== undefined && config.attempt < script.startFailures) {
      this.#end(CANNOT_RUN, 'StartError', script.startError);
      throw new RuntimeError('startFailed', script.startError);
    }
    this.run(clock.now());
  }

  /** Begins to run, or goes on running since an earlier time. */
  run(sinceMs: number): void {
    const { clock } = this.options;
    this.state = 'running';
    this.startedAtMs = sinceMs;
    this.options.onChange(this, 'started');
    const left = sinceMs + this.#runTimeMs - clock.now();
    if (left < Infinity) this.#exitTimer = clock.setTimer(left, () => this.#exit());
  }

  /** Resolves when it has ended, by itself within the time or killed after it. */
  stop(timeoutMs: number): Promise<void> {
    if (this.state === 'exited') return Promise.resolve();
    if (this.state === 'created') {
      this.#end(KILLED, 'Error', undefined);
      return Promise.resolve();
    }
    const { clock, script } = this.options;
    const ended = this.ended();
    if (!this.#isStopping && timeoutMs > 0) this.#askToEnd();
    this.#isStopping = true;
    if (timeoutMs <= 0 && script.stopTimeMs > 0) this.kill();
    else if (timeoutMs <= 0) this.#end(script.stopExitCode, undefined, undefined);
    else if (this.state === 'running' && clock.monotonic() + timeoutMs < this.#killDueMs) this.#killAfter(timeoutMs);
    return ended;
  }

  kill(): void {
    this.#end(KILLED, 'Error', undefined);
  }

  /** It is gone without anybody being told, as when the machine fails. */
  vanish(): void {
    this.#cancelTimers();
    this.state = 'exited';
    this.#settleEnded();
  }

  ended(): Promise<void> {
    if (this.state === 'exited') return Promise.resolve();
    return new Promise((resolve) => this.#whenEnded.push(resolve));
  }

  answer(type: 'startup' | 'readiness' | 'liveness'): ProbeAnswer {
    const { clock, script } = this.options;
    const steps = script.probes[type];
    const since = this.startedAtMs ?? clock.now();
    const age = clock.now() - since;
    const current = steps.findLast(({ fromMs }) => fromMs <= age);
    const next = steps.find(({ fromMs }) => fromMs > age);
    const output = script.probeOutput ?? 'the script of the pod says so';
    return { passed: current?.passes ?? true, output, sameUntilMs: next === undefined ? Infinity : since + next.fromMs };
  }

  /** What was written after `afterMs` and until `untilMs`, in order. Nothing is kept: it follows from the script. */
  log(afterMs: number, untilMs: number): readonly LogEntry[] {
    const since = this.startedAtMs;
    if (since === undefined) return [];
    const end = Math.min(untilMs, this.finishedAtMs ?? Infinity);
    const scripted = this.#lines
      .map((line): LogEntry => ({ timeMs: since + line.afterMs, stream: 'stdout', line: line.line }))
      .filter(({ timeMs }) => timeMs > afterMs && timeMs <= end);
    const repeated = [...this.#intervalLines(since, afterMs, end)];
    return repeated.length === 0 ? scripted : [...scripted, ...repeated].sort((a, b) => a.timeMs - b.timeMs);
  }

  /** When the next line will be written, after `afterMs`. */
  nextLineAtMs(afterMs: number): number {
    const since = this.startedAtMs ?? Infinity;
    const scripted = this.#lines.map((line) => since + line.afterMs).filter((timeMs) => timeMs > afterMs);
    const interval = this.options.script.logIntervalMs;
    const repeated = interval === undefined ? Infinity : since + interval * Math.max(1, Math.floor((afterMs - since) / interval) + 1);
    return Math.min(repeated, ...scripted);
  }

  *#intervalLines(since: number, afterMs: number, end: number): Iterable<LogEntry> {
    const { logIntervalMs, logLine } = this.options.script;
    if (logIntervalMs === undefined) return;
    const last = Math.floor((end - since) / logIntervalMs);
    const first = Math.max(1, Math.floor((afterMs - since) / logIntervalMs) + 1, last - MAX_INTERVAL_LINES);
    for (let i = first; i <= last; i++) yield { timeMs: since + i * logIntervalMs, stream: 'stdout', line: logLine };
  }

  get #lines(): readonly ScriptedLine[] {
    const { script, command, config } = this.options;
    return script.logs ?? command?.lines ?? [{ afterMs: 0, line: `simulated container ${config.name} of image ${config.image} started` }];
  }

  get #runTimeMs(): number {
    const { script, command } = this.options;
    // An exit code without a time is an end at once.
    return script.runTimeMs ?? (script.exitCodes !== undefined ? 0 : (command?.runTimeMs ?? Infinity));
  }

  #exit(): void {
    const { script, command, config } = this.options;
    const codes = script.exitCodes ?? [command?.exitCode ?? 0];
    const code = codes[Math.min(config.attempt, codes.length - 1)] ?? 0;
    this.#end(code, script.exitReason, script.terminationMessage);
  }

  #askToEnd(): void {
    const { clock, script } = this.options;
    if (script.stopTimeMs === Infinity) return;
    if (script.stopTimeMs === 0) {
      this.#end(script.stopExitCode, undefined, undefined);
      return;
    }
    this.#exitTimer?.cancel();
    this.#exitTimer = clock.setTimer(script.stopTimeMs, () => this.#end(script.stopExitCode, undefined, undefined));
  }

  #killAfter(timeoutMs: number): void {
    const { clock } = this.options;
    this.#killTimer?.cancel();
    this.#killDueMs = clock.monotonic() + timeoutMs;
    this.#killTimer = clock.setTimer(timeoutMs, () => this.kill());
  }

  #end(code: number, reason: string | undefined, message: string | undefined): void {
    if (this.state === 'exited') return;
    this.#cancelTimers();
    this.state = 'exited';
    this.finishedAtMs = this.options.clock.now();
    this.exitCode = code;
    this.reason = reason ?? (code === 0 ? 'Completed' : 'Error');
    this.message = message;
    this.#settleEnded();
    this.options.onChange(this, 'stopped');
  }

  #cancelTimers(): void {
    this.#exitTimer?.cancel();
    this.#killTimer?.cancel();
  }

  #settleEnded(): void {
    for (const resolve of this.#whenEnded.splice(0)) resolve();
  }
}
