import type { core } from '#api';
import type { Clock, TimerHandle } from '#base';
import type { ProbeAnswer, ProbeRequest } from '../cri/runtime.ts';

export interface ProbeWorkerOptions {
  readonly type: ProbeRequest['type'];
  readonly probe: core.Probe;
  readonly clock: Clock;
  /** When the container began to run. */
  readonly startedAtMs: number;
  /** Rejects when the probe could not be made at all. */
  ask(request: ProbeRequest): Promise<ProbeAnswer>;
  /** A single probe failed: worth an event. */
  onFailure(output: string): void;
  /** The result, after thresholds, is another one. */
  onResult(passed: boolean): void;
}

/**
 * One probe of one running container: asks every period, and counts until a threshold is reached. While the answer is known to stay the
 * same and changes nothing, it does not even wake up.
 */
export class ProbeWorker {
  readonly #options: ProbeWorkerOptions;
  #result: boolean | undefined;
  #lastPassed: boolean | undefined;
  #inARow = 0;
  #timer: TimerHandle | undefined;
  #isStopped = false;

  constructor(options: ProbeWorkerOptions) {
    this.#options = options;
    const { clock, probe, startedAtMs } = options;
    const due = startedAtMs + (probe.initialDelaySeconds ?? 0) * 1000;
    this.#wakeIn(Math.max(0, due - clock.now()));
  }

  /** Undefined until a threshold was reached. */
  get result(): boolean | undefined {
    return this.#result;
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  #wakeIn(delayMs: number): void {
    if (delayMs === 0) void this.#run();
    else this.#timer = this.#options.clock.setTimer(delayMs, () => void this.#run());
  }

  async #run(): Promise<void> {
    const { type, probe } = this.#options;
    const answer = await this.#ask({ type, probe, timeoutMs: (probe.timeoutSeconds ?? 1) * 1000 });
    if (this.#isStopped) return;
    this.#count(answer.passed);
    if (!answer.passed) this.#options.onFailure(answer.output);
    if (!this.#isStopped) this.#wakeIn(this.#delayAfter(answer));
  }

  async #ask(request: ProbeRequest): Promise<ProbeAnswer> {
    try {
      return await this.#options.ask(request);
    } catch (error) {
      return { passed: false, output: (error as Error).message };
    }
  }

  #count(passed: boolean): void {
    const { successThreshold = 1, failureThreshold = 3 } = this.#options.probe;
    this.#inARow = passed === this.#lastPassed ? this.#inARow + 1 : 1;
    this.#lastPassed = passed;
    if (this.#inARow < (passed ? successThreshold : failureThreshold) || this.#result === passed) return;
    this.#result = passed;
    this.#options.onResult(passed);
  }

  #delayAfter({ passed, sameUntilMs }: ProbeAnswer): number {
    const { clock, probe } = this.#options;
    const periodMs = (probe.periodSeconds ?? 10) * 1000;
    // A failure is told each time; a success that changes nothing is not worth asking for.
    if (!passed || this.#result !== true || sameUntilMs === undefined) return periodMs;
    if (sameUntilMs === Infinity) return Infinity;
    const periods = Math.ceil((sameUntilMs - clock.now()) / periodMs);
    return Math.max(1, periods) * periodMs;
  }
}
