import type { core } from '#api';
import { type Clock, Lru, TokenBucket } from '#base';
import { formatTime } from '#machinery';
import type { Draft } from '../kube-object.ts';
import type { EventNames } from './event-names.ts';

export type NewEvent = Draft<core.Event>;

/** Whether an event is created, or updates an existing one. */
export type EventWrite =
  | { readonly type: 'skip' }
  | { readonly type: 'create'; readonly event: NewEvent }
  | { readonly type: 'update'; readonly event: NewEvent; readonly patch: object };

interface Aggregate {
  /** Different ones, at most as many as are combined. */
  messages: readonly string[];
  lastMs: number;
}

/** What events of one source about one object have in common. */
interface Subject {
  /** A short form for the keys of its events, which would each repeat a hundred characters. */
  readonly id: number;
  readonly bucket: TokenBucket;
}

interface Observation {
  readonly count: number;
  readonly firstTimestamp: string;
  readonly name: string;
}

const MAX_ENTRIES = 4096;
/** Similar events (same except for the message) are aggregated from this number on. */
const AGGREGATE_FROM = 10;
const AGGREGATE_WITHIN_MS = 600_000;
/** The spam filter: each source may send this many events about an object, then one every five minutes. */
const SPAM_RATE = { perSecond: 1 / 300, burst: 25 };

/** Upstream's event correlation: deduplication, aggregation and spam filtering. */
export class EventCorrelator {
  readonly #aggregates = new Lru<string, Aggregate>({ capacity: MAX_ENTRIES });
  readonly #observations = new Lru<string, Observation>({ capacity: MAX_ENTRIES });
  /** Every event is of a subject, so one that is forgotten here is forgotten in the other tables as well. */
  readonly #subjects = new Lru<string, Subject>({ capacity: MAX_ENTRIES });
  #lastSubject = 0;

  constructor(
    private readonly clock: Clock,
    private readonly names: EventNames,
  ) {}

  correlate(event: NewEvent): EventWrite {
    const subject = this.#subjectOf(event);
    const { event: combined, key } = this.#aggregate(event, subject);
    const result = this.#observe(combined, key);
    return subject.bucket.tryTake() ? result : { type: 'skip' };
  }

  /** Records the server's version of a written event. */
  written(event: core.Event): void {
    const { count = 1, firstTimestamp = '', metadata } = event;
    this.#observations.set(eventKey(event, this.#subjectOf(event)), { count, firstTimestamp, name: metadata.name });
  }

  #subjectOf(event: SubjectFields): Subject {
    const key = subjectKey(event);
    let subject = this.#subjects.get(key);
    if (subject === undefined) {
      const bucket = new TokenBucket(this.clock, SPAM_RATE);
      subject = { id: ++this.#lastSubject, bucket };
      this.#subjects.set(key, subject);
    }
    return subject;
  }

  #aggregate(event: NewEvent, subject: Subject): { event: NewEvent; key: string } {
    const key = aggregateKey(event, subject);
    const now = this.clock.now();
    const aggregate = this.#aggregates.get(key);
    const record = aggregate && now - aggregate.lastMs <= AGGREGATE_WITHIN_MS ? aggregate : { messages: [], lastMs: now };
    const { message = '' } = event;
    if (!record.messages.includes(message)) record.messages = record.messages.concat(message);
    record.lastMs = now;
    this.#aggregates.set(key, record);
    if (record.messages.length < AGGREGATE_FROM) return { event, key: eventKey(event, subject) };
    record.messages = record.messages.slice(1);
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

  #observe(event: NewEvent, key: string): EventWrite {
    const last = this.#observations.get(key);
    const observed = last ? repeated(event, last) : event;
    const { count = 1, firstTimestamp = '', lastTimestamp = '', message = '' } = observed;
    this.#observations.set(key, { count, firstTimestamp, name: observed.metadata?.name ?? '' });
    return last ? { type: 'update', event: observed, patch: { count, lastTimestamp, message } } : { type: 'create', event: observed };
  }
}

function repeated(event: NewEvent, { name, count, firstTimestamp }: Observation): NewEvent {
  return { ...event, metadata: { ...event.metadata, name }, firstTimestamp, count: count + 1 };
}

type SubjectFields = Pick<NewEvent, 'source' | 'involvedObject' | 'type'>;

function subjectKey({ source, involvedObject: object, type }: SubjectFields): string {
  return [source?.component, source?.host, object.kind, object.namespace, object.name, object.uid, object.apiVersion, type].join('\n');
}

function aggregateKey({ reason, reportingComponent, reportingInstance }: NewEvent, { id }: Subject): string {
  return [id, reason, reportingComponent, reportingInstance].join('\n');
}

function eventKey({ involvedObject, reason, message }: Pick<NewEvent, 'involvedObject' | 'reason' | 'message'>, { id }: Subject): string {
  return [id, involvedObject.fieldPath, reason, message].join('\n');
}
