import { type core, events } from '#api';
import { type Clock, Fifo, type Logger, type Random, type TimerHandle } from '#base';
import type { Client } from '#client';
import { formatMicroTime, isStatusReason } from '#machinery';

export interface SchedulerEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly action: string;
  readonly note: string;
}

interface Series {
  readonly name: string;
  readonly namespace: string;
  count: number;
  seenAt: number;
  /** The pending create: a patch must follow it. */
  written: Promise<unknown>;
}

export interface EventWriterDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Whether scheduling is busy and events must wait; `resume` ends the wait. */
  isBusy(): boolean;
}

interface PendingWrite {
  readonly since: number;
  write(): Promise<void>;
}

const MAX_QUEUED = 20_000;
const MAX_IN_FLIGHT = 64;
/** Applies under any load: upstream writes at most fifty events a second, later than this in any burst. */
const MAX_DELAY_MS = 5000;
/** Alike events within this time are one series. */
const SERIES_MS = 6 * 60_000;
const MAX_SERIES = 4096;
/** Upstream's limit of a note. */
const MAX_NOTE = 1024;

/**
 * Events of the events.k8s.io group, as upstream's scheduler writes them: alike ones (same object, reason and action) become a series.
 * Writing never delays scheduling: events wait while pods are placed and bound. Events that cannot be written are dropped.
 */
export class EventWriter {
  #dropped = 0;
  readonly #queue = new Fifo<PendingWrite>();
  readonly #series = new Map<string, Series>();
  readonly #running = new Set<Promise<void>>();
  #timer: TimerHandle | undefined;
  #isFlushing = false;

  constructor(
    private readonly deps: EventWriterDeps,
    private readonly source: { readonly controller: string; readonly instance: string },
  ) {}

  record(pod: core.Pod, event: SchedulerEvent): void {
    const now = this.deps.clock.now();
    const key = `${pod.metadata.uid} ${event.type} ${event.reason} ${event.action}`;
    const series = this.#series.get(key);
    if (series !== undefined && now - series.seenAt < SERIES_MS) this.#continue(series, now);
    else this.#begin(key, pod, event);
  }

  /** Ends the wait. */
  resume(): void {
    this.#start();
  }

  /** Resolves when all recorded events are written or dropped. */
  async flushed(): Promise<void> {
    this.#isFlushing = true;
    this.#start();
    while (this.#running.size > 0) await Promise.all(this.#running);
    this.#isFlushing = false;
  }

  #begin(key: string, pod: core.Pod, event: SchedulerEvent): void {
    const { clock, random, client } = this.deps;
    const { name, namespace = 'default' } = pod.metadata;
    const series: Series = {
      name: `${name}.${random.string('0123456789abcdef', 16)}`,
      namespace,
      count: 1,
      seenAt: clock.now(),
      written: Promise.resolve(),
    };
    this.#remember(key, series);
    const eventTime = series.seenAt;
    this.#enqueue(() => {
      const object = { metadata: { name: series.name, namespace }, eventTime: formatMicroTime(eventTime), ...this.#eventKey(pod, event) };
      const written = this.#attempt(() => client.of(events.Event).create(object as never));
      series.written = written;
      return written;
    });
  }

  #eventKey({ metadata }: core.Pod, { reason, action, type, note }: SchedulerEvent): object {
    const { name, namespace, uid, resourceVersion } = metadata;
    return {
      reportingController: this.source.controller,
      reportingInstance: this.source.instance,
      regarding: { kind: 'Pod', namespace, name, uid, apiVersion: 'v1', resourceVersion },
      note: note.slice(0, MAX_NOTE),
      ...{ reason, action, type },
    };
  }

  /** Only the first repetition is written immediately; further counts can wait. */
  #continue(series: Series, now: number): void {
    series.count++;
    series.seenAt = now;
    if (series.count !== 2 && series.count % 10 !== 0) return;
    const { name, namespace, count } = series;
    const patch = { series: { count, lastObservedTime: formatMicroTime(now) } };
    this.#enqueue(async () => {
      await series.written;
      await this.#attempt(() => this.deps.client.of(events.Event).patch({ name, namespace }, patch, { type: 'strategic' }));
    });
  }

  #remember(key: string, series: Series): void {
    this.#series.delete(key);
    this.#series.set(key, series);
    if (this.#series.size > MAX_SERIES) this.#series.delete(this.#series.keys().next().value as string);
  }

  #enqueue(write: () => Promise<void>): void {
    if (this.#queue.size >= MAX_QUEUED) {
      // Logged once per burst, not per event.
      if (this.#dropped++ === 0) this.deps.logger.warn('too many events wait to be written; dropping some');
      return;
    }
    this.#queue.push({ since: this.deps.clock.monotonic(), write });
    this.#start();
  }

  #start(): void {
    while (this.#running.size < MAX_IN_FLIGHT && this.#mayWrite()) this.#run();
    if (this.#running.size === 0) this.#arm();
  }

  #mayWrite(): boolean {
    const first = this.#queue.peek();
    if (first === undefined) return false;
    if (this.#isFlushing || this.#queue.size > MAX_QUEUED / 2 || !this.deps.isBusy()) return true;
    return this.deps.clock.monotonic() - first.since >= MAX_DELAY_MS;
  }

  #arm(): void {
    const { clock } = this.deps;
    const first = this.#queue.peek();
    if (first === undefined) return;
    this.#timer ??= clock.setTimer(Math.max(first.since + MAX_DELAY_MS - clock.monotonic(), 0), () => {
      this.#timer = undefined;
      this.#start();
    });
  }

  #run(): void {
    const running = this.#drain().finally(() => {
      this.#running.delete(running);
      this.#start();
    });
    this.#running.add(running);
  }

  async #drain(): Promise<void> {
    while (this.#mayWrite()) await this.#queue.shift()?.write();
    if (this.#queue.size > 0) return;
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#dropped > 0) this.deps.logger.warn('events were dropped', { count: this.#dropped });
    this.#dropped = 0;
  }

  async #attempt(write: () => Promise<unknown>): Promise<void> {
    try {
      await write();
    } catch (error) {
      // A terminating namespace rejects new events.
      const isExpected = isStatusReason(error, 'NotFound') || isStatusReason(error, 'Forbidden') || isStatusReason(error, 'AlreadyExists');
      this.deps.logger[isExpected ? 'debug' : 'warn']('an event could not be written', { error });
    }
  }
}
