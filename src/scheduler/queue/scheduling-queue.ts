import { type Clock, KeyedHeap, type TimerHandle } from '#base';
import type { ClusterEvent } from '../framework/cluster-event.ts';
import type { Nominations } from '../framework/nominations.ts';
import type { QueuePosition } from '../framework/plugin.ts';
import type { PodInfo } from '../framework/pod-info.ts';
import type { Status } from '../framework/status.ts';
import { EventLog } from './event-log.ts';
import { newQueuedPod, type QueuedPod } from './queued-pod.ts';
import type { QueueingHints, RequeueStrategy } from './queueing-hints.ts';
import { UnschedulablePods } from './unschedulable-pods.ts';

export interface SchedulingQueueOptions {
  readonly clock: Clock;
  compare(a: QueuePosition, b: QueuePosition): number;
  /** Whether the pod may become active; the status names the plugin that gates it. */
  preEnqueue(pod: PodInfo): Status | undefined;
  hintsFor(pod: PodInfo): QueueingHints;
  readonly nominations: Nominations;
  /** A pod became active. */
  onActive(): void;
  /** For metrics. */
  onQueued?(queue: 'active' | 'backoff' | 'unschedulable' | 'gated', event: string): void;
  readonly initialBackoffMs?: number;
  readonly maxBackoffMs?: number;
}

interface DelayedPod {
  readonly queued: QueuedPod;
  readonly dueAt: number;
}

/** A pod that no event moved for this long is retried anyway: a plugin may have missed an event. */
const MAX_UNSCHEDULABLE_MS = 300_000;
const BACKOFF_WINDOW_MS = 1000;
const LEFTOVER_CHECK_MS = 30_000;

/**
 * Pending pods: active, in backoff, unschedulable until an event that may help, and gated until
 * they are released. Every added pod that is neither deleted nor bound is in one of them, or in flight.
 */
export class SchedulingQueue {
  readonly #options: SchedulingQueueOptions;
  readonly #active: KeyedHeap<string, QueuedPod>;
  readonly #backoff = new KeyedHeap<string, DelayedPod>({ keyOf: ({ queued }) => queued.info.uid, compare: (a, b) => a.dueAt - b.dueAt });
  readonly #unschedulable = new UnschedulablePods();
  readonly #log = new EventLog();
  readonly #inFlight = new Map<string, QueuedPod>();
  #backoffTimer: { handle: TimerHandle; dueAt: number } | undefined;
  #leftoverTimer: TimerHandle | undefined;
  #isClosed = false;

  constructor(options: SchedulingQueueOptions) {
    this.#options = options;
    this.#active = new KeyedHeap({ keyOf: ({ info }) => info.uid, compare: (a, b) => options.compare(a, b) });
  }

  get sizes(): { readonly active: number; readonly backoff: number; readonly unschedulable: number; readonly gated: number } {
    let gated = 0;
    for (const { gatedBy } of this.#unschedulable.values()) if (gatedBy !== '') gated++;
    return { active: this.#active.size, backoff: this.#backoff.size, unschedulable: this.#unschedulable.size - gated, gated };
  }

  /** Whether a pod could be scheduled now. */
  get hasActive(): boolean {
    return this.#active.size > 0;
  }

  /** Which queue the pod is in; undefined when none. */
  placeOf(uid: string): 'active' | 'backoff' | 'unschedulable' | 'gated' | 'in-flight' | undefined {
    if (this.#active.has(uid)) return 'active';
    if (this.#backoff.has(uid)) return 'backoff';
    const waiting = this.#unschedulable.get(uid);
    if (waiting !== undefined) return waiting.gatedBy === '' ? 'unschedulable' : 'gated';
    return this.#inFlight.has(uid) ? 'in-flight' : undefined;
  }

  add(info: PodInfo): void {
    this.#nominate(info);
    if (this.placeOf(info.uid) !== undefined) return;
    this.#activate(newQueuedPod(info, this.#options.clock.now()), 'UnscheduledPodAdd');
  }

  /** A pending pod changed. `events`: the relevant changes. */
  update(info: PodInfo, events: readonly ClusterEvent[]): void {
    const { uid } = info;
    if (this.#inFlight.has(uid)) {
      for (const event of events) this.#log.record(event);
      return;
    }
    const active = this.#active.get(uid);
    const delayed = this.#backoff.get(uid);
    const waiting = this.#unschedulable.get(uid);
    const queued = active ?? delayed?.queued ?? waiting;
    if (queued === undefined) return void this.add(info);
    this.#nominate(info);
    queued.info = info;
    if (active !== undefined) this.#active.set(active);
    else if (waiting !== undefined) this.#reconsider(waiting, events);
  }

  delete(uid: string): void {
    this.#active.delete(uid);
    this.#unschedulable.delete(uid);
    this.#options.nominations.delete(uid);
    if (this.#backoff.delete(uid)) this.#armBackoff();
  }

  /** The next pod to schedule. It is in flight until `done` or `failed`. */
  pop(): QueuedPod | undefined {
    const queued = this.#active.pop() ?? this.#popBackoff();
    if (queued === undefined) return undefined;
    queued.attempts++;
    queued.firstTriedAt ??= this.#options.clock.now();
    this.#inFlight.set(queued.info.uid, queued);
    this.#log.begin(queued.info.uid);
    return queued;
  }

  /** The pod is bound, or gone. */
  done(uid: string): void {
    this.#inFlight.delete(uid);
    this.#log.forget(uid);
  }

  /** A scheduling attempt failed; with an error if no plugin rejected the pod. */
  failed(queued: QueuedPod, blame: { readonly rejectedBy: ReadonlySet<string>; readonly pendingOn: ReadonlySet<string> }): void {
    const { uid } = queued.info;
    const since = this.#log.end(uid);
    this.#inFlight.delete(uid);
    if (this.placeOf(uid) !== undefined) return;
    queued.queuedAt = this.#options.clock.now();
    queued.rejectedBy = blame.rejectedBy;
    queued.pendingOn = blame.pendingOn;
    if (blame.rejectedBy.size + blame.pendingOn.size === 0) {
      queued.errors++;
      return void this.#delay(queued, 'ScheduleAttemptFailure');
    }
    queued.rejections++;
    queued.errors = 0;
    const helping = since.find((event) => this.#strategy(queued, event) !== 'skip');
    if (helping === undefined) this.#addUnschedulable(queued, 'ScheduleAttemptFailure');
    else this.#requeue(queued, this.#strategy(queued, helping), helping.label);
  }

  /** The cluster changed: pods that may now fit are retried. */
  moveOn(event: ClusterEvent): void {
    this.#log.record(event);
    for (const group of [...this.#unschedulable.groups()]) {
      const [first] = group.values();
      if (first === undefined || !this.#options.hintsFor(first.info).concerns(first, event)) continue;
      for (const queued of [...group.values()]) {
        const strategy = this.#strategy(queued, event);
        if (strategy !== 'skip') this.#requeue(queued, strategy, event.label);
      }
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#backoffTimer?.handle.cancel();
    this.#leftoverTimer?.cancel();
    this.#backoffTimer = undefined;
    this.#leftoverTimer = undefined;
  }

  #strategy(queued: QueuedPod, event: ClusterEvent): RequeueStrategy {
    return this.#options.hintsFor(queued.info).strategyFor(queued, event);
  }

  #reconsider(queued: QueuedPod, events: readonly ClusterEvent[]): void {
    for (const event of events) {
      const strategy = this.#strategy(queued, event);
      if (strategy !== 'skip') return void this.#requeue(queued, strategy, event.label);
    }
  }

  #requeue(queued: QueuedPod, strategy: RequeueStrategy, event: string): void {
    if (queued.gatedBy === '' && strategy === 'after-backoff' && this.#dueAt(queued) > this.#options.clock.now())
      this.#delay(queued, event);
    else this.#activate(queued, event);
  }

  #activate(queued: QueuedPod, event: string): void {
    const { uid } = queued.info;
    const gate = this.#options.preEnqueue(queued.info);
    queued.gatedBy = gate?.plugin ?? '';
    if (gate !== undefined) {
      queued.rejectedBy = new Set([gate.plugin]);
      return void this.#addUnschedulable(queued, event);
    }
    this.#unschedulable.delete(uid);
    this.#backoff.delete(uid);
    this.#active.set(queued);
    this.#options.onQueued?.('active', event);
    this.#options.onActive();
  }

  #delay(queued: QueuedPod, event: string): void {
    this.#unschedulable.delete(queued.info.uid);
    this.#backoff.set({ queued, dueAt: this.#dueAt(queued) });
    this.#options.onQueued?.('backoff', event);
    this.#armBackoff();
    // An idle scheduler retries without waiting for the backoff.
    if (queued.errors === 0 && this.#active.size === 0) this.#options.onActive();
  }

  #addUnschedulable(queued: QueuedPod, event: string): void {
    this.#unschedulable.set(queued);
    this.#options.onQueued?.(queued.gatedBy === '' ? 'unschedulable' : 'gated', event);
    this.#armLeftovers();
  }

  /** Only when nothing is active, and never a pod that failed with an error: it would fail again immediately. */
  #popBackoff(): QueuedPod | undefined {
    let first: DelayedPod | undefined;
    for (const delayed of this.#backoff) {
      if (delayed.queued.errors > 0) continue;
      if (first === undefined || this.#options.compare(delayed.queued, first.queued) < 0) first = delayed;
    }
    if (first === undefined) return undefined;
    this.#backoff.delete(first.queued.info.uid);
    const gate = this.#options.preEnqueue(first.queued.info);
    if (gate === undefined) return first.queued;
    first.queued.gatedBy = gate.plugin;
    first.queued.rejectedBy = new Set([gate.plugin]);
    this.#addUnschedulable(first.queued, 'PopFromBackoffQ');
    return this.#popBackoff();
  }

  /** Exponential backoff. Pods due in the same second return together, so that priority decides among them. */
  #dueAt({ queuedAt, rejections, errors }: QueuedPod): number {
    const { initialBackoffMs = 1000, maxBackoffMs = 10_000 } = this.#options;
    const failures = errors > 0 ? errors : rejections;
    if (failures === 0) return queuedAt;
    const due = queuedAt + Math.min(initialBackoffMs * 2 ** (failures - 1), maxBackoffMs);
    return Math.ceil(due / BACKOFF_WINDOW_MS) * BACKOFF_WINDOW_MS;
  }

  #armBackoff(): void {
    const next = this.#backoff.peek();
    if (this.#backoffTimer !== undefined && this.#backoffTimer.dueAt === next?.dueAt) return;
    this.#backoffTimer?.handle.cancel();
    this.#backoffTimer = undefined;
    if (next === undefined || this.#isClosed) return;
    const { clock } = this.#options;
    const handle = clock.setTimer(next.dueAt - clock.now(), () => this.#flushBackoff());
    this.#backoffTimer = { handle, dueAt: next.dueAt };
  }

  #flushBackoff(): void {
    this.#backoffTimer = undefined;
    const now = this.#options.clock.now();
    for (let next = this.#backoff.peek(); next !== undefined && next.dueAt <= now; next = this.#backoff.peek()) {
      this.#backoff.pop();
      this.#activate(next.queued, 'BackoffComplete');
    }
    this.#armBackoff();
  }

  #armLeftovers(): void {
    if (this.#leftoverTimer !== undefined || this.#isClosed) return;
    this.#leftoverTimer = this.#options.clock.setTimer(LEFTOVER_CHECK_MS, () => this.#flushLeftovers());
  }

  #flushLeftovers(): void {
    this.#leftoverTimer = undefined;
    const before = this.#options.clock.now() - MAX_UNSCHEDULABLE_MS;
    for (const queued of [...this.#unschedulable.values()]) {
      if (queued.queuedAt <= before && queued.gatedBy === '') this.#requeue(queued, 'after-backoff', 'UnschedulableTimeout');
    }
    if (this.#unschedulable.size > 0) this.#armLeftovers();
  }

  #nominate(info: PodInfo): void {
    const nodeName = info.pod.status?.nominatedNodeName ?? '';
    const { nominations } = this.#options;
    if (nodeName !== '') nominations.set(info, nodeName);
    else if (nominations.nodeOf(info.uid) !== '') nominations.set(info, nominations.nodeOf(info.uid));
  }
}
