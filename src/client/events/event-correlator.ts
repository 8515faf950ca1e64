import type { core } from '#api';
import { type Clock, Lru, TokenBucket } from '#base';
import { formatTime } from '#machinery';
import type { Draft } from '../kube-object.ts';
import type { EventNames } from './event-names.ts';

export type NewEvent = Draft<core.Event>;

/** What is to be written of an event: a new one, or a change to the one that stands for it already. */
export type Correlated =
  | { readonly type: 'skip' }
  | { readonly type: 'create'; readonly event: NewEvent }
  | { readonly type: 'update'; readonly event: NewEvent; readonly patch: object };

interface Aggregate {
  readonly messages: Set<string>;
  lastMs: number;
}

interface Observation {
  readonly count: number;
  readonly firstTimestamp: string;
  readonly name: string;
}

const MAX_ENTRIES = 4096;
/** Events that differ by message only are combined once there are this many within the time. */
const AGGREGATE_FROM = 10;
const AGGREGATE_WITHIN_MS = 600_000;
/** Each source may send this many events about an object, then one every five minutes. */
const SPAM_BURST = 25;
const SPAM_PER_SECOND = 1 / 300;

/** Upstream's rules by which repeated events become counts, similar ones are combined, and floods are dropped. */
export class EventCorrelator {
  readonly #aggregates = new Lru<string, Aggregate>({ capacity: MAX_ENTRIES });
  readonly #observations = new Lru<string, Observation>({ capacity: MAX_ENTRIES });
  readonly #spam = new Lru<string, TokenBucket>({ capacity: MAX_ENTRIES });

  constructor(
    private readonly clock: Clock,
    private readonly names: EventNames,
  ) {}

  correlate(event: NewEvent): Correlated {
    const { event: combined, key } = this.#aggregate(event);
    const result = this.#observe(combined, key);
    return this.#isSpam(event) ? { type: 'skip' } : result;
  }

  /** The server's word on an event that was written. */
  written(event: core.Event): void {
    const { count = 1, firstTimestamp = '', metadata } = event;
    this.#observations.set(eventKey(event), { count, firstTimestamp, name: metadata.name });
  }

  #aggregate(event: NewEvent): { event: NewEvent; key: string } {
    const key = aggregateKey(event);
    const now = this.clock.now();
    const known = this.#aggregates.get(key);
    const record = known && now - known.lastMs <= AGGREGATE_WITHIN_MS ? known : { messages: new Set<string>(), lastMs: now };
    record.messages.add(event.message ?? '');
    record.lastMs = now;
    this.#aggregates.set(key, record);
    if (record.messages.size < AGGREGATE_FROM) return { event, key: eventKey(event) };
    const [oldest] = record.messages;
    record.messages.delete(oldest ?? '');
    return { event: this.#combined(event, now), key };
  }

  #combined(event: NewEvent, now: number): NewEvent {
    const time = formatTime(now);
    const metadata = {
      name: this.names.next(event.involvedObject.name ?? ''),
      ...(event.metadata?.namespace && { namespace: event.metadata.namespace }),
    };
    const message = `(combined from similar events): ${event.message ?? ''}`;
    return { ...event, metadata, count: 1, firstTimestamp: time, lastTimestamp: time, message };
  }

  #observe(event: NewEvent, key: string): Correlated {
    const last = this.#observations.get(key);
    const observed = last ? repeated(event, last) : event;
    const { count = 1, firstTimestamp = '', lastTimestamp = '', message = '' } = observed;
    this.#observations.set(key, { count, firstTimestamp, name: observed.metadata?.name ?? '' });
    return last ? { type: 'update', event: observed, patch: { count, lastTimestamp, message } } : { type: 'create', event: observed };
  }

  #isSpam(event: NewEvent): boolean {
    const key = spamKey(event);
    const bucket = this.#spam.get(key) ?? new TokenBucket(this.clock, { perSecond: SPAM_PER_SECOND, burst: SPAM_BURST });
    this.#spam.set(key, bucket);
    return !bucket.tryTake();
  }
}

function repeated(event: NewEvent, { name, count, firstTimestamp }: Observation): NewEvent {
  return { ...event, metadata: { ...event.metadata, name }, firstTimestamp, count: count + 1 };
}

function subject({ source, involvedObject: object, type }: Pick<NewEvent, 'source' | 'involvedObject' | 'type'>): readonly unknown[] {
  return [source?.component, source?.host, object.kind, object.namespace, object.name, object.uid, object.apiVersion, type];
}

function spamKey(event: NewEvent): string {
  return subject(event).join('\n');
}

function aggregateKey(event: NewEvent): string {
  return [...subject(event), event.reason, event.reportingComponent, event.reportingInstance].join('\n');
}

function eventKey(event: Pick<NewEvent, 'source' | 'involvedObject' | 'type' | 'reason' | 'message'>): string {
  return [...subject(event), event.involvedObject.fieldPath, event.reason, event.message].join('\n');
}
