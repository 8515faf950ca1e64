import { core } from '#api';
import { type AsyncSemaphore, type Clock, type Logger, type Random, TokenBucket, type TokenBucketConfig } from '#base';
import { formatTime, isStatusReason, StatusError } from '#machinery';
import type { Client } from '../client.ts';
import type { Identified } from '../kube-object.ts';
import { EventCorrelator, type NewEvent } from './event-correlator.ts';
import { EventNames } from './event-names.ts';
import { EventQueue, type PendingWrite } from './event-queue.ts';

/** The object that an event is about: itself, or a reference to it. */
export type EventTarget = Identified | core.ObjectReference;
export type EventType = 'Normal' | 'Warning';

/** Records events about objects. Never blocks and never throws: failed events are logged and dropped. */
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
  /** Limits concurrent writes of sinks that share it. */
  readonly lane?: AsyncSemaphore | undefined;
  /** Limits requests per second. Absent: unlimited. */
  readonly rate?: TokenBucketConfig | undefined;
}

/** All nodes of a large cluster may have an event in the same moment. */
const MAX_QUEUED = 10_000;
/** Writes in flight share a commit. */
const MAX_IN_FLIGHT = 8;
const MAX_TRIES = 12;
const RETRY_MS = 10_000;

/**
 * Writes correlated events, those of one object in order. One sink serves all recorders of a process; it stops with the signal. Events are
 * correlated before they wait: of an object with very many, such as a ReplicaSet that creates thousands of pods, only a few get that far.
 */
export class EventSink {
  readonly #correlator: EventCorrelator;
  readonly #names: EventNames;
  readonly #bucket: TokenBucket | undefined;
  #dropped = 0;
  readonly #queue = new EventQueue();
  readonly #running = new Set<Promise<void>>();
  #writers = 0;

  constructor(
    private readonly deps: EventSinkDeps,
    private readonly signal: AbortSignal,
  ) {
    this.#names = new EventNames(deps.clock, deps.random);
    this.#correlator = new EventCorrelator(deps.clock, this.#names);
    this.#bucket = deps.rate && new TokenBucket(deps.clock, deps.rate);
  }

  /** A recorder for one source: a component, and optionally its host. */
  recorder(source: core.EventSource): EventRecorder {
    const record = (about: EventTarget, text: EventText) => this.#record(this.#newEvent(referenceTo(about), source, text));
    return {
      record,
      normal: (about, reason, message) => record(about, { type: 'Normal', reason, message }),
      warning: (about, reason, message) => record(about, { type: 'Warning', reason, message }),
    };
  }

  /** Resolves when every recorded event is written or dropped. */
  async flushed(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  #newEvent(involvedObject: core.ObjectReference, source: core.EventSource, { annotations, ...text }: EventText): NewEvent {
    const time = formatTime(this.deps.clock.now());
    const metadata = {
      name: this.#names.next(involvedObject.name ?? ''),
      namespace: involvedObject.namespace || 'default',
      ...(annotations && { annotations }),
    };
    const reporting = { reportingComponent: source.component ?? '', reportingInstance: source.host ?? '' };
    return { metadata, involvedObject, ...text, source, firstTimestamp: time, lastTimestamp: time, count: 1, ...reporting };
  }

  #record(event: NewEvent): void {
    if (this.signal.aborted) return;
    const write = this.#correlator.correlate(event);
    if (write.type === 'skip') return;
    if (this.#queue.size >= MAX_QUEUED) {
      // Logged once per burst, with the count at its end.
      if (this.#dropped++ === 0) this.deps.logger.warn('too many events wait to be written; dropping some', { reason: event.reason });
      return;
    }
    this.#queue.push(write);
    if (this.#writers < MAX_IN_FLIGHT) this.#start();
  }

  #start(): void {
    this.#writers++;
    const running: Promise<void> = this.#writeAll().finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  async #writeAll(): Promise<void> {
    for (let next = this.#queue.take(); next && !this.signal.aborted; next = this.#queue.take()) {
      for (const write of next.writes) await this.#write(write);
      this.#queue.release(next.objectKey);
    }
    // In the turn of the last look into the queue: an event that comes after it starts a new writer.
    if (--this.#writers === 0) this.#reportDropped();
  }

  #reportDropped(): void {
    if (this.#dropped > 0) this.deps.logger.warn('events were dropped', { count: this.#dropped });
    this.#dropped = 0;
  }

  async #write(correlated: PendingWrite): Promise<void> {
    for (let tries = 1; !this.signal.aborted; tries++) {
      if (await this.#tryWrite(correlated)) return;
      if (tries >= MAX_TRIES) {
        this.deps.logger.error('an event could not be written; giving up', { message: correlated.event.message });
        return;
      }
      // Jitter: clients that lost the same server do not reconnect at the same time.
      const delay = tries === 1 ? RETRY_MS * this.deps.random.float() : RETRY_MS;
      await this.deps.clock.sleep(delay, this.signal).catch(() => {});
    }
  }

  /** False when a retry may succeed: the server was unreachable. */
  async #tryWrite(correlated: PendingWrite): Promise<boolean> {
    const { lane } = this.deps;
    try {
      await this.#bucket?.take(this.signal);
      const written = await (lane === undefined ? this.#send(correlated) : lane.run(() => this.#send(correlated)));
      this.#correlator.written(written);
      return true;
    } catch (error) {
      return this.#logFailedWrite(error, correlated.event);
    }
  }

  async #send(correlated: PendingWrite): Promise<core.Event> {
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

  /** Returns whether a retry is pointless. */
  #logFailedWrite(error: unknown, { reason, message, involvedObject }: NewEvent): boolean {
    const { logger } = this.deps;
    const fields = { error, reason, message, object: `${involvedObject.kind} ${involvedObject.namespace ?? ''}/${involvedObject.name}` };
    if (this.signal.aborted) return true;
    if (!(error instanceof StatusError) || error.reason === '') {
      logger.warn('an event could not be written; trying again', fields);
      return false;
    }
    const expected = error.reason === 'AlreadyExists' || error.hasCause('NamespaceTerminating');
    if (expected) logger.debug('the server rejected an event', fields);
    else logger.warn('the server rejected an event', fields);
    return true;
  }
}

/** An ObjectReference for events and other objects. */
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
