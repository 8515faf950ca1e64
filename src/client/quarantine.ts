import { type Clock, isPromise, type Logger, type MaybePromise, type MetricsRegistry } from '#base';
import { StatusError } from '#machinery';
import type { EventRecorder, EventTarget } from './events/event-recorder.ts';

export interface QuarantineDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Absent: failures are only logged. */
  readonly metrics?: MetricsRegistry | undefined;
  /** Absent: no event is written. */
  readonly recorder?: Pick<EventRecorder, 'warning'> | undefined;
}

export interface ObjectFailure {
  /** The object's key. */
  readonly key: string;
  readonly error: unknown;
  /** There is no retry before the object changes, so the first failure counts in full. */
  readonly isFinal?: boolean;
  /** The object, read only when an event is written about it. */
  about?(): EventTarget | undefined;
}

/** How a failure is handled. */
export interface FailureRecord {
  /** Consecutive failures, including this one. */
  readonly failures: number;
  readonly isQuarantined: boolean;
}

interface FailingKey {
  failures: number;
  readonly sinceMs: number;
  isQuarantined: boolean;
}

const MIN_FAILURES = 5;
/** Shorter failures are usually caused by changes in progress. */
const MIN_LASTING_MS = 10_000;
const MAX_KEYS = 10_000;
const MAX_TEXT = 500;

/**
 * Tracks objects that a component (a controller, the scheduler, a kubelet, an informer's handler) fails on repeatedly. Such an
 * object is quarantined: it gets one event, metrics count it, and the log does not repeat the same error. When to
 * retry is up to the component, which continues with all other objects.
 */
export class Quarantine {
  readonly #failing = new Map<string, FailingKey>();
  readonly #errors;
  readonly #total;
  readonly #objects;

  constructor(
    private readonly part: string,
    private readonly deps: QuarantineDeps,
  ) {
    const { metrics } = deps;
    const labels = ['part'] as const;
    const named = { part };
    this.#errors = metrics
      ?.counter({ name: 'sampan_object_errors_total', help: 'Failed attempts to handle one object.', labels })
      .with(named);
    this.#total = metrics?.counter({ name: 'sampan_quarantines_total', help: 'Objects that were quarantined.', labels }).with(named);
    this.#objects = metrics
      ?.gauge({ name: 'sampan_quarantined_objects', help: 'Objects that a part of the cluster fails on again and again.', labels })
      .with(named);
  }

  failed(failure: ObjectFailure): FailureRecord {
    const { key, error, isFinal = false } = failure;
    this.#errors?.inc();
    const now = this.deps.clock.monotonic();
    const failing = this.#failing.get(key) ?? this.#begin(key, now);
    failing.failures++;
    const isLasting = failing.failures >= MIN_FAILURES && now - failing.sinceMs >= MIN_LASTING_MS;
    const fields = { part: this.part, key, failures: failing.failures, error };
    if (failing.isQuarantined) this.deps.logger.debug('a quarantined object failed again', fields);
    else if (isLasting || isFinal) this.#quarantine(failing, failure);
    else this.deps.logger.warn('an object could not be handled; trying again', fields);
    return failing;
  }

  /** The object was processed, or is gone. */
  succeeded(key: string): void {
    if (this.#failing.size > 0) this.#end(key);
  }

  /**
   * Runs `work` for one object; undefined if it failed, which counts against the object. For passes over all objects: one failure does
   * not block the others. API errors are left to the next pass.
   */
  contain<T>(key: string, work: () => MaybePromise<T>, about?: () => EventTarget | undefined): MaybePromise<T | undefined> {
    const failed = (error: unknown) => {
      if (isFault(error)) this.failed({ key, error, ...(about && { about }) });
      else this.deps.logger.debug('an object could not be handled in this pass', { part: this.part, key, error });
      return undefined;
    };
    const succeeded = (result: T) => {
      this.succeeded(key);
      return result;
    };
    try {
      const result = work();
      return isPromise(result) ? result.then(succeeded, failed) : succeeded(result);
    } catch (error) {
      return failed(error);
    }
  }

  #begin(key: string, now: number): FailingKey {
    const failing = { failures: 0, sinceMs: now, isQuarantined: false };
    this.#failing.set(key, failing);
    if (this.#failing.size > MAX_KEYS) this.#end(this.#failing.keys().next().value!);
    return failing;
  }

  #quarantine(failing: FailingKey, { key, error, isFinal = false, about }: ObjectFailure): void {
    const { logger, recorder } = this.deps;
    failing.isQuarantined = true;
    this.#total?.inc();
    this.#objects?.inc();
    logger.error('an object is quarantined', { part: this.part, key, failures: failing.failures, error });
    const target = about?.();
    if (target !== undefined) recorder?.warning(target, 'Quarantined', quarantineMessage(this.part, failing.failures, { error, isFinal }));
  }

  #end(key: string): void {
    const failing = this.#failing.get(key);
    this.#failing.delete(key);
    if (failing?.isQuarantined !== true) return;
    this.#objects?.dec();
    this.deps.logger.info('an object left quarantine', { part: this.part, key, failures: failing.failures });
  }
}

/** API errors are expected; other errors are bugs, or caused by bad objects. */
export function isFault(error: unknown): boolean {
  return !(error instanceof StatusError);
}

function quarantineMessage(part: string, failures: number, { error, isFinal }: { error: unknown; isFinal: boolean }): string {
  const text = String(error instanceof Error ? `${error.name}: ${error.message}` : error).slice(0, MAX_TEXT);
  if (isFinal) return `${part} cannot handle this object, and leaves it alone until it changes: ${text}`;
  return `${part} failed ${failures} times in a row on this object, and tries it less and less often: ${text}`;
}
