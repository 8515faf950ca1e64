import type { core } from '#api';
import type { Clock, TimerHandle } from '#base';
import { NotAttachedError } from '../csi/csi-volume.ts';
import { PodRejectedError } from '../pods/hooks/pod-rejected-error.ts';
import type { PodRecord } from './pod-record.ts';
import { messageOf } from './volume-plugin.ts';

export interface MountAttemptOptions {
  readonly record: PodRecord;
  readonly volumes: readonly core.Volume[];
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Records an event. */
  report(error: Error): void;
}

/** Upstream retries after this time, and reports volumes that it could not resolve. */
const REPORT_MS = 300;

/** The volumes that a pod waits for, and why they are missing. */
export class MountAttempt implements Disposable {
  readonly #problems = new Map<string, unknown>();
  #timer: TimerHandle | undefined;
  #isReported = false;

  constructor(private readonly options: MountAttemptOptions) {}

  get signal(): AbortSignal {
    return this.options.signal;
  }

  failed({ name }: core.Volume, error: unknown): void {
    this.#problems.set(name, error);
    const { record, clock } = this.options;
    if (!this.#isReported && !record.entries.has(name)) this.#timer ??= clock.setTimer(REPORT_MS, () => this.#reportUnresolved());
  }

  succeeded({ name }: core.Volume): void {
    this.#problems.delete(name);
  }

  /** Which volumes are missing, in upstream's words. Those that merely take long are no event. */
  missingError(): Error {
    return new Error(`Unable to attach or mount volumes: ${this.#missingText()}`);
  }

  /** The node cannot attach the missing volumes: the pod fails. */
  limitError(): PodRejectedError {
    const message = `Node has reached its volume attachment limit, rejecting pod. ${this.#missingText()}`;
    return new PodRejectedError({ reason: 'VolumeAttachmentLimitExceeded', message });
  }

  unattached(): readonly string[] {
    return this.#missing().filter((name) => this.#problems.get(name) instanceof NotAttachedError);
  }

  #missingText(): string {
    const unresolved = this.#unresolved();
    const reasons = [...new Set(unresolved.map((name) => messageOf(this.#problems.get(name))))].sort();
    const lists = `unmounted volumes=[${this.#missing().join(' ')}], unattached volumes=[${this.unattached().join(' ')}], failed to process volumes=[${unresolved.join(' ')}]`;
    return `${lists}: ${reasons.join('; ') || 'context deadline exceeded'}`;
  }

  [Symbol.dispose](): void {
    this.#timer?.cancel();
  }

  #missing(): readonly string[] {
    const { volumes, record } = this.options;
    return volumes.map(({ name }) => name).filter((name) => record.prepared(name) === undefined);
  }

  #unresolved(): readonly string[] {
    return this.#missing().filter((name) => !this.options.record.entries.has(name) && this.#problems.has(name));
  }

  #reportUnresolved(): void {
    this.#timer = undefined;
    const { record, report } = this.options;
    if (record.isClosed || this.#unresolved().length === 0) return;
    this.#isReported = true;
    report(this.missingError());
  }
}
