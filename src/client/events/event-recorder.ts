import { core } from '#api';
import { type AsyncSemaphore, type Clock, Fifo, type Logger, type Random } from '#base';
import { formatTime, isStatusReason, StatusError } from '#machinery';
import type { Client } from '../client.ts';
import type { Identified } from '../kube-object.ts';
import { type Correlated, EventCorrelator, type NewEvent } from './event-correlator.ts';
import { EventNames } from './event-names.ts';

/** The object that an event is about: itself, or a reference to it. */
export type EventTarget = Identified | core.ObjectReference;
export type EventType = 'Normal' | 'Warning';

/** Tells what happened to an object. Never waits and never fails: what cannot be written is logged and dropped. */
export interface EventRecorder {
  normal(about: EventTarget, reason: string, message: string): void;
  warning(about: EventTarget, reason: string, message: string): void;
  record(about: EventTarget, event: EventText): void;
}

export interface EventText {
  readonly type: EventType;
  readonly reason: string;
  readonly message: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface EventSinkDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Sinks that share it take turns. */
  readonly lane?: AsyncSemaphore | undefined;
}

const MAX_QUEUED = 1000;
const MAX_TRIES = 12;
const RETRY_MS = 10_000;

/** Writes events one after another, as correlated. One sink serves all recorders of a process; it ends with the signal. */
export class EventSink {
  readonly #correlator: EventCorrelator;
  readonly #names: EventNames;
  #dropped = 0;
  readonly #queue = new Fifo<NewEvent>();
  #writing: Promise<void> | undefined;

  constructor(
    private readonly deps: EventSinkDeps,
    private readonly signal: AbortSignal,
  ) {
    this.#names = new EventNames(deps.clock, deps.random);
    this.#correlator = new EventCorrelator(deps.clock, this.#names);
  }

  /** Events of one source: a component, and the machine that it runs on when that matters. */
  recorder(source: core.EventSource): EventRecorder {
    const record = (about: EventTarget, text: EventText) => this.#record(this.#newEvent(referenceTo(about), source, text));
    return {
      record,
      normal: (about, reason, message) => record(about, { type: 'Normal', reason, message }),
      warning: (about, reason, message) => record(about, { type: 'Warning', reason, message }),
    };
  }

  /** Resolves when every event recorded so far is written or given up. */
  async flushed(): Promise<void> {
    await this.#writing;
  }

  #newEvent(involvedObject: core.ObjectReference, source: core.EventSource, { annotations, ...said }: EventText): NewEvent {
    const time = formatTime(this.deps.clock.now());
    const metadata = {
      name: this.#names.next(involvedObject.name ?? ''),
      namespace: involvedObject.namespace || 'default',
      ...(annotations && { annotations }),
    };
    const reporting = { reportingComponent: source.component ?? '', reportingInstance: source.host ?? '' };
    return { metadata, involvedObject, ...said, source, firstTimestamp: time, lastTimestamp: time, count: 1, ...reporting };
  }

  #record(event: NewEvent): void {
    if (this.signal.aborted) return;
    if (this.#queue.size >= MAX_QUEUED) {
      // Told once a burst, and how many there were at its end: a line for each would make matters worse.
      if (this.#dropped++ === 0) this.deps.logger.warn('too many events wait to be written; dropping some', { reason: event.reason });
      return;
    }
    this.#queue.push(event);
    this.#writing ??= this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    for (let event = this.#queue.shift(); event && !this.signal.aborted; event = this.#queue.shift()) {
      await this.#write(this.#correlator.correlate(event));
    }
    // In the same turn in which the queue was found empty: an event that came in between would wait for the next one.
    this.#writing = undefined;
    if (this.#dropped > 0) this.deps.logger.warn('events were dropped', { count: this.#dropped });
    this.#dropped = 0;
  }

  async #write(correlated: Correlated): Promise<void> {
    if (correlated.type === 'skip') return;
    for (let tries = 1; !this.signal.aborted; tries++) {
      if (await this.#tryWrite(correlated)) return;
      if (tries >= MAX_TRIES) {
        this.deps.logger.error('an event could not be written; giving up', { message: correlated.event.message });
        return;
      }
      // Clients that lost the same server do not come back all at once.
      const delay = tries === 1 ? RETRY_MS * this.deps.random.float() : RETRY_MS;
      await this.deps.clock.sleep(delay, this.signal).catch(() => {});
    }
  }

  /** False when another try may succeed: the server could not be reached. */
  async #tryWrite(correlated: Exclude<Correlated, { type: 'skip' }>): Promise<boolean> {
    const { lane } = this.deps;
    try {
      const written = await (lane === undefined ? this.#send(correlated) : lane.run(() => this.#send(correlated)));
      this.#correlator.written(written);
      return true;
    } catch (error) {
      return this.#isFinal(error, correlated.event);
    }
  }

  async #send(correlated: Exclude<Correlated, { type: 'skip' }>): Promise<core.Event> {
    this.signal.throwIfAborted();
    const events = this.deps.client.of(core.Event);
    const { event } = correlated;
    if (correlated.type === 'create') return events.create(event);
    const { name = '', namespace } = event.metadata ?? {};
    try {
      return await events.patch({ name, namespace }, correlated.patch, { type: 'strategic' });
    } catch (error) {
      if (!isStatusReason(error, 'NotFound')) throw error;
      return events.create(event);
    }
  }

  #isFinal(error: unknown, { reason, message, involvedObject }: NewEvent): boolean {
    const { logger } = this.deps;
    const fields = { error, reason, message, object: `${involvedObject.kind} ${involvedObject.namespace ?? ''}/${involvedObject.name}` };
    if (this.signal.aborted) return true;
    if (!(error instanceof StatusError) || error.reason === '') {
      logger.warn('an event could not be written; trying again', fields);
      return false;
    }
    const expected = error.reason === 'AlreadyExists' || error.hasCause('NamespaceTerminating');
    if (expected) logger.debug('the server refused an event', fields);
    else logger.warn('the server refused an event', fields);
    return true;
  }
}

/** Names an object as events and other objects refer to it. */
export function referenceTo(about: EventTarget): core.ObjectReference {
  if (!('metadata' in about)) return about;
  const { kind, apiVersion, metadata } = about;
  const { name, namespace, uid, resourceVersion } = metadata;
  return {
    ...(kind && { kind }),
    ...(namespace && { namespace }),
    name,
    ...(uid && { uid }),
    ...(apiVersion && { apiVersion }),
    ...(resourceVersion && { resourceVersion }),
  };
}
