import type { core } from '#api';
import type { Clock, Logger, TimerHandle } from '#base';
import { ProbeError, type ProbeRequest, type ProbeResult } from './prober.ts';

/** Probe results for events and metrics; the last two mean that the probe could not be executed. */
export type ProbeOutput = 'failure' | 'warning' | 'errorAsFailure' | 'errorAsUnknown';

export interface ProbeWorkerOptions {
  readonly type: ProbeRequest['type'];
  readonly probe: core.Probe;
  readonly clock: Clock;
  readonly logger: Logger;
  /** When the container started. */
  readonly startedAtMs: number;
  /** The result of an earlier kubelet. */
  readonly earlierResult?: boolean;
  /** Rejects when the probe could not be executed. */
  run(request: ProbeRequest): Promise<ProbeResult>;
  /** A probe failed, warned, or could not be executed: recorded as an event. */
  onOutput(kind: ProbeOutput, output: string): void;
  /** The result changed, after thresholds. */
  onResult(passed: boolean): void;
}

/**
 * One probe of one running container: probes every period, and counts until a threshold is reached. While the result is known to stay the
 * same, it does not run.
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
    this.#result = options.earlierResult;
    const { clock, probe, startedAtMs } = options;
    const due = startedAtMs + (probe.initialDelaySeconds ?? 0) * 1000;
    this.#wakeIn(Math.max(0, due - clock.now()));
  }

  /** Undefined until a threshold is reached. */
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

  /** Never rejects. */
  async #run(): Promise<void> {
    const { type, probe } = this.#options;
    const answer = await this.#runProbe({ type, probe, timeoutMs: (probe.timeoutSeconds ?? 1) * 1000 });
    if (this.#isStopped) return;
    try {
      this.#notify(answer);
    } catch (error) {
      this.#options.logger.error('the result of a probe could not be handled', { type, error });
    }
    if (!this.#isStopped) this.#wakeIn(answer instanceof Error ? this.#periodMs : this.#delayAfter(answer));
  }

  #notify(answer: ProbeResult | Error): void {
    const { onOutput } = this.#options;
    // An error is no statement about the container.
    if (answer instanceof Error) onOutput(isFailure(answer) ? 'errorAsFailure' : 'errorAsUnknown', answer.message);
    else {
      this.#count(answer.passed);
      if (!answer.passed) onOutput('failure', answer.output);
      else if (answer.isWarning) onOutput('warning', answer.output);
    }
  }

  async #runProbe(request: ProbeRequest): Promise<ProbeResult | Error> {
    try {
      return await this.#options.run(request);
    } catch (error) {
      return error as Error;
    }
  }

  get #periodMs(): number {
    return (this.#options.probe.periodSeconds ?? 10) * 1000;
  }

  #count(passed: boolean): void {
    const { successThreshold = 1, failureThreshold = 3 } = this.#options.probe;
    this.#inARow = passed === this.#lastPassed ? this.#inARow + 1 : 1;
    this.#lastPassed = passed;
    if (this.#inARow < (passed ? successThreshold : failureThreshold) || this.#result === passed) return;
    this.#result = passed;
    this.#options.onResult(passed);
  }

  #delayAfter({ passed, sameUntilMs }: ProbeResult): number {
    const { clock } = this.#options;
    const periodMs = this.#periodMs;
    // Each failure is reported; a repeated success need not be probed.
    if (!passed || this.#result !== true || sameUntilMs === undefined) return periodMs;
    if (sameUntilMs === Infinity) return Infinity;
    const periods = Math.ceil((sameUntilMs - clock.now()) / periodMs);
    return Math.max(1, periods) * periodMs;
  }
}

function isFailure(error: Error): boolean {
  return error instanceof ProbeError && error.state === 'failure';
}
