import { type Clock, minOf, type TimerHandle } from '#base';
import type { LogEntry } from '../../logs/container-logs.ts';
import type { ProbeResult } from '../../prober/prober.ts';
import { type ContainerConfig, type ContainerStatus, RuntimeError } from '../runtime.ts';
import type { CommandScript } from './command-script.ts';
import type { ContainerScript, ScriptedLine } from './script.ts';
import { SimulatedFiles } from './simulated-files.ts';
import { SimulatedProcess } from './simulated-process.ts';

export interface SimulatedContainerOptions {
  readonly id: string;
  readonly sandboxId: string;
  readonly podUid: string;
  readonly podName: string;
  readonly config: ContainerConfig;
  readonly logPath: string;
  readonly script: ContainerScript;
  /** The interpreted command, used when the script sets nothing. */
  readonly command: CommandScript | undefined;
  readonly clock: Clock;
  readonly onChange: (container: SimulatedContainer, type: 'started' | 'stopped') => void;
}

const KILLED = 137;
const CANNOT_RUN = 128;
/** The limit of retained lines of a container that logs at an interval. */
const MAX_INTERVAL_LINES = 100_000;

/** A container as a state machine: created, running, exited. */
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
  #files: SimulatedFiles | undefined;
  #whenEnded: (() => void)[] = [];
  #processEnd: AbortController | undefined;
  /** Of a container with open stdin whose exit is not scripted. */
  process: SimulatedProcess | undefined;

  /** Created for the first command that is executed in it. */
  get files(): SimulatedFiles {
    this.#files ??= new SimulatedFiles();
    return this.#files;
  }

  constructor(readonly options: SimulatedContainerOptions) {
    this.createdAtMs = options.clock.now();
  }

  get status(): ContainerStatus {
    const { id, config, logPath } = this.options;
    const { metadata, image, labels, annotations, mounts } = config;
    const { state, createdAtMs, startedAtMs, finishedAtMs, exitCode, reason = '', message = '' } = this;
    const { userSpecifiedImage = image.image } = image;
    return {
      ...{ id, metadata, state, createdAtMs, exitCode, reason, message, labels, annotations, mounts, logPath },
      ...{ image: { image: userSpecifiedImage }, imageRef: image.image, imageId: image.image },
      ...(startedAtMs !== undefined && { startedAtMs }),
      ...(state === 'exited' && { finishedAtMs: finishedAtMs ?? createdAtMs }),
    };
  }

  async start(): Promise<void> {
    const { clock, script, config } = this.options;
    if (this.state !== 'created') throw new RuntimeError('failedPrecondition', `container ${this.options.id} is not in created state`);
    if (script.startTimeMs > 0) await clock.sleep(script.startTimeMs);
    if (this.state !== 'created') throw new RuntimeError('unknown', 'the container was stopped before it had started');
    if (script.startError !== undefined && config.metadata.attempt < script.startFailures) {
      this.#end(CANNOT_RUN, 'StartError', script.startError);
      throw new RuntimeError('unknown', script.startError);
    }
    this.run(clock.now());
  }

  /** Starts, or resumes as running since an earlier time. */
  run(sinceMs: number): void {
    const { clock } = this.options;
    this.state = 'running';
    this.startedAtMs = sinceMs;
    this.options.onChange(this, 'started');
    if (this.#isInteractive) this.#startProcess();
    const left = sinceMs + this.#runTimeMs - clock.now();
    if (left < Infinity) this.#exitTimer = clock.setTimer(left, () => this.#exit());
  }

  get #isInteractive(): boolean {
    const { script, command, config } = this.options;
    return config.stdin === true && command === undefined && script.logs === undefined && this.#runTimeMs === Infinity;
  }

  #startProcess(): void {
    const { config, clock, podName } = this.options;
    const { command, args, envs, tty = false, stdinOnce = false } = config;
    const env = envs.map(({ name, value }) => ({ key: name, value }));
    const words = [...command, ...args];
    const { files } = this;
    this.#processEnd = new AbortController();
    this.process = new SimulatedProcess({
      ...{ command: words, env, hostname: podName, files, tty, stdinOnce, clock },
      signal: this.#processEnd.signal,
    });
    void this.process.exit.then(
      (code) => this.#end(code, undefined, undefined),
      () => this.#end(1, 'Error', undefined),
    );
  }

  /** Resolves when it has exited, by itself in time or killed. */
  stop(timeoutMs: number): Promise<void> {
    if (this.state === 'exited') return Promise.resolve();
    if (this.state === 'created') {
      this.#end(KILLED, 'Error', undefined);
      return Promise.resolve();
    }
    const { clock, script } = this.options;
    const ended = this.ended();
    if (!this.#isStopping && timeoutMs > 0) this.#requestStop();
    this.#isStopping = true;
    if (timeoutMs <= 0 && script.stopTimeMs > 0) this.kill();
    else if (timeoutMs <= 0) this.#end(script.stopExitCode, undefined, undefined);
    else if (this.state === 'running' && clock.monotonic() + timeoutMs < this.#killDueMs) this.#killAfter(timeoutMs);
    return ended;
  }

  kill(): void {
    this.#end(KILLED, 'Error', undefined);
  }

  /** Disappears without an event, as in a machine crash. */
  vanish(): void {
    this.#release();
    this.state = 'exited';
    this.#settleEnded();
  }

  ended(): Promise<void> {
    if (this.state === 'exited') return Promise.resolve();
    return new Promise((resolve) => this.#whenEnded.push(resolve));
  }

  answer(type: 'startup' | 'readiness' | 'liveness'): ProbeResult {
    const { clock, script } = this.options;
    const steps = script.probes[type];
    const since = this.startedAtMs ?? clock.now();
    const age = clock.now() - since;
    const current = steps.findLast(({ fromMs }) => fromMs <= age);
    const next = steps.find(({ fromMs }) => fromMs > age);
    const output = script.probeOutput ?? 'the script of the pod says so';
    return { passed: current?.passes ?? true, output, sameUntilMs: next === undefined ? Infinity : since + next.fromMs };
  }

  /** The output between `afterMs` and `untilMs`. Computed from the script, not stored. */
  log(afterMs: number, untilMs: number): readonly LogEntry[] {
    const since = this.startedAtMs;
    if (since === undefined) return [];
    const end = Math.min(untilMs, this.finishedAtMs ?? Infinity);
    const scripted = this.#lines
      .map((line): LogEntry => logEntry(since + line.afterMs, line.line))
      .filter(({ timeMs }) => timeMs > afterMs && timeMs <= end);
    const repeated = [...this.#intervalLines(since, afterMs, end)];
    return repeated.length === 0 ? scripted : [...scripted, ...repeated].sort((a, b) => a.timeMs - b.timeMs);
  }

  /** The time of the next line after `afterMs`. */
  nextLineAtMs(afterMs: number): number {
    const since = this.startedAtMs ?? Infinity;
    const scripted = this.#lines.map((line) => since + line.afterMs).filter((timeMs) => timeMs > afterMs);
    const interval = this.options.script.logIntervalMs;
    const repeated = interval === undefined ? Infinity : since + interval * Math.max(1, Math.floor((afterMs - since) / interval) + 1);
    return minOf(scripted, repeated);
  }

  *#intervalLines(since: number, afterMs: number, end: number): Iterable<LogEntry> {
    const { logIntervalMs, logLine } = this.options.script;
    if (logIntervalMs === undefined) return;
    const last = Math.floor((end - since) / logIntervalMs);
    const first = Math.max(1, Math.floor((afterMs - since) / logIntervalMs) + 1, last - MAX_INTERVAL_LINES);
    for (let i = first; i <= last; i++) yield logEntry(since + i * logIntervalMs, logLine);
  }

  get #lines(): readonly ScriptedLine[] {
    const { script, command, config } = this.options;
    return (
      script.logs ??
      command?.lines ?? [
        {
          afterMs: 0,
          line: `simulated container ${config.metadata.name} of image ${config.image.userSpecifiedImage ?? config.image.image} started`,
        },
      ]
    );
  }

  get #runTimeMs(): number {
    const { script, command } = this.options;
    // An exit code without a run time means that it exits at once.
    return script.runTimeMs ?? (script.exitCodes !== undefined ? 0 : (command?.runTimeMs ?? Infinity));
  }

  #exit(): void {
    const { script, command, config } = this.options;
    const codes = script.exitCodes ?? [command?.exitCode ?? 0];
    const code = codes[Math.min(config.metadata.attempt, codes.length - 1)] ?? 0;
    this.#end(code, script.exitReason, script.terminationMessage);
  }

  #requestStop(): void {
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
    this.#release();
    this.state = 'exited';
    this.finishedAtMs = this.options.clock.now();
    this.exitCode = code;
    this.reason = reason ?? (code === 0 ? 'Completed' : 'Error');
    this.message = message;
    this.#settleEnded();
    this.options.onChange(this, 'stopped');
  }

  #release(): void {
    this.#exitTimer?.cancel();
    this.#killTimer?.cancel();
    this.#processEnd?.abort();
  }

  #settleEnded(): void {
    for (const resolve of this.#whenEnded.splice(0)) resolve();
  }
}

function logEntry(timeMs: number, line: string): LogEntry {
  const time = new Date(timeMs).toISOString().replace('Z', '000000Z');
  return { timeMs, time, stream: 'stdout', content: Buffer.from(`${line}\n`) };
}
