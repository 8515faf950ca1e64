import { flowcontrol } from '#api';
import { type Clock, type MetricsRegistry, minOf, type TimerHandle } from '#base';
import type { ResourceTable } from '../registry/generic/resource-table.ts';
import type { ApiRequest } from '../request/api-request.ts';
import { ANONYMOUS } from '../request/user.ts';
import { FlowMetrics } from './flow-metrics.ts';
import { FlowSchemas } from './flow-schemas.ts';
import { LevelSet } from './level-set.ts';
import type { PriorityLevel } from './priority-level.ts';
import { type FlowEntry, flowEntry, Ticket } from './ticket.ts';
import { estimateWork, ONE_SEAT, type WorkEstimate } from './work-estimate.ts';

export interface FlowControllerConfig {
  /** The concurrency of all levels together. */
  readonly totalSeats: number;
  /** How long a request may be queued. */
  readonly waitLimitMs: (request: ApiRequest) => number;
}

export interface FlowControllerDeps {
  readonly table: ResourceTable;
  readonly metrics: MetricsRegistry;
  /** The cluster's clock. */
  readonly clock: Clock;
  /** Real time, for waiting clients. */
  readonly peerClock: Clock;
  /** Identifies the event loop turn. */
  readonly turn: () => number;
  /** Calls back in the next event loop turn, once the requests that arrived in it were classified. */
  readonly nextTurn: (callback: () => void) => void;
}

type Level = PriorityLevel<Ticket>;

const ADJUST_MS = 10_000;
const SWEEP_MS = 250;
/**
 * Seats granted per event loop turn. The server has one thread: requests of one turn are served sequentially regardless of free seats, and
 * later ones wait for all of them. Excess requests wait in the queues instead, where dispatching is fair. Few, since whoever arrives during a turn
 * waits for its end before anything is read.
 */
const SEATS_PER_TURN = 4;

/** Executes, queues or rejects requests. */
export class FlowController {
  readonly #config: FlowControllerConfig;
  readonly #deps: FlowControllerDeps;
  readonly #metrics: FlowMetrics;
  readonly #levels: LevelSet<Ticket>;
  readonly #levelObjects = new Map<string, flowcontrol.PriorityLevelConfiguration>();
  readonly #schemaObjects = new Map<string, flowcontrol.FlowSchema>();
  readonly #watchers = new Map<string, number>();
  #schemas: FlowSchemas<FlowEntry> = new FlowSchemas<FlowEntry>([]);
  #isStale = true;
  #adjustedMs = 0;
  #turn = -1;
  #turnSeats = 0;
  #isTurnAwaited = false;
  #waiting = 0;
  #sweep: TimerHandle | undefined;
  #lingering: { readonly ticket: Ticket; readonly untilMs: number }[] = [];
  #linger: TimerHandle | undefined;

  constructor(config: FlowControllerConfig, deps: FlowControllerDeps) {
    this.#config = config;
    this.#deps = deps;
    this.#metrics = new FlowMetrics(deps.metrics);
    this.#levels = new LevelSet(config.totalSeats, this.#metrics);
  }

  /** Follows the API objects. Until then only the mandatory ones apply. */
  async start(): Promise<void> {
    await this.#follow('prioritylevelconfigurations', this.#levelObjects);
    await this.#follow('flowschemas', this.#schemaObjects);
  }

  stop(): void {
    this.#sweep?.cancel();
    this.#linger?.cancel();
  }

  async #follow<T>(resource: string, objects: Map<string, T>): Promise<void> {
    const { cache } = this.#deps.table.storage('flowcontrol.apiserver.k8s.io', 'v1', resource);
    await cache.follow({
      put: (key, object) => {
        objects.set(key, object as T);
        this.#isStale = true;
      },
      remove: (key) => {
        objects.delete(key);
        this.#isStale = true;
      },
    });
  }

  classify({ user = ANONYMOUS, info }: ApiRequest): FlowEntry {
    if (this.#isStale) this.#configure();
    return this.#schemas.find(user, info);
  }

  /** Undefined when the request is rejected. */
  admit(request: ApiRequest, entry: FlowEntry): Ticket | undefined | Promise<Ticket | undefined> {
    const { level } = entry;
    const nowMs = this.#deps.clock.monotonic();
    if (nowMs - this.#adjustedMs > ADJUST_MS) this.#adjust(nowMs);
    const ticket = new Ticket(entry, request, this.#estimate(request, level));
    if (level.isExempt || (level.waiting === 0 && level.fits(ticket.seats) && this.#reserveTurnSeats(ticket))) {
      this.#begin(ticket, nowMs);
      return ticket;
    }
    return this.#enqueue(ticket, nowMs);
  }

  /** The request is finished; for a watch, its initialization. */
  finish(ticket: Ticket): void {
    const { level, entry, estimate } = ticket;
    const nowMs = this.#deps.clock.monotonic();
    const seconds = (nowMs - ticket.startedMs) / 1000;
    level.executing.delete(ticket);
    entry.executing--;
    entry.metrics.executionSeconds.observe(seconds);
    ticket.settle(seconds);
    if (estimate.additionalLatencyMs > 0) this.#holdSeats(ticket);
    else this.#release(ticket, nowMs);
  }

  /** Counts a watcher of a resource, which makes writes more expensive. Returns the undo function. */
  watched({ info: { group, resource } }: ApiRequest): () => void {
    const key = `${group}/${resource}`;
    const change = (by: number) => this.#watchers.set(key, (this.#watchers.get(key) ?? 0) + by);
    change(1);
    return () => void (change(-1).get(key) === 0 && this.#watchers.delete(key));
  }

  levels(): Iterable<Level> {
    if (this.#isStale) this.#configure();
    return this.#levels.all();
  }

  #estimate(request: ApiRequest, { isExempt, maxSeats }: Level): WorkEstimate {
    if (isExempt || request.info.verb === 'get') return ONE_SEAT;
    return estimateWork(request, { table: this.#deps.table, maxSeats, watchers: this.#watchersOf });
  }

  readonly #watchersOf = (group: string, resource: string): number =>
    this.#watchers.size === 0 ? 0 : (this.#watchers.get(`${group}/${resource}`) ?? 0);

  #configure(): void {
    this.#isStale = false;
    this.#levels.configure(this.#levelObjects.values(), this.#deps.clock.monotonic());
    const before = new Map(this.#schemas.ordered.map((entry) => [entry.name, entry]));
    const objects = [...this.#schemaObjects.values()];
    const names = new Set(objects.map(({ metadata }) => metadata.name));
    const imagined = [...flowcontrol.MANDATORY_FLOW_SCHEMAS].filter(([name]) => !names.has(name));
    const schemas = [
      ...objects.map(({ metadata, spec }) => ({ name: metadata.name ?? '', uid: metadata.uid ?? '', spec })),
      ...imagined.map(([name, spec]) => ({ name, uid: '', spec })),
    ];
    const entries = schemas.flatMap(({ name, uid, spec }) => {
      const level = spec && this.#levels.get(spec.priorityLevelConfiguration.name ?? '');
      return spec === undefined || level === undefined ? [] : [flowEntry({ name, uid, spec, level }, this.#metrics, before.get(name))];
    });
    this.#schemas = new FlowSchemas(entries);
    for (const level of this.#levels.all()) this.#dispatch(level);
  }

  #adjust(nowMs: number): void {
    this.#adjustedMs = nowMs;
    this.#levels.adjust(nowMs);
    if (this.#waiting > 0) for (const level of this.#levels.all()) this.#dispatch(level);
  }

  /** Takes seats of this turn of the event loop. In-process components yield by themselves, and exempt requests do not wait. */
  #reserveTurnSeats({ isLocal, level, seats }: Ticket): boolean {
    if (isLocal || level.queues === undefined) return true;
    const turn = this.#deps.turn();
    // Seats that queued requests wait for are granted at the end of the turn, to the flows that have had least.
    if (turn !== this.#turn && !this.#isTurnAwaited) {
      this.#turn = turn;
      this.#turnSeats = 0;
    }
    if (this.#turnSeats >= SEATS_PER_TURN) return false;
    this.#turnSeats += seats;
    return true;
  }

  #begin(ticket: Ticket, nowMs: number): void {
    const { level, entry, seats } = ticket;
    ticket.startedMs = nowMs;
    level.seatsInUse += seats;
    level.executing.add(ticket);
    level.dispatched++;
    entry.executing++;
    entry.executingSeats += seats;
    entry.metrics.dispatched.inc();
    entry.metrics.estimatedSeats.observe(seats);
    this.#noteDemand(level, nowMs);
  }

  #noteDemand(level: Level, nowMs: number): void {
    level.demand.set(level.seatsInUse + (level.queues?.seats ?? 0), nowMs);
  }

  #enqueue(ticket: Ticket, nowMs: number): Promise<Ticket | undefined> | undefined {
    const { level, entry, isLocal } = ticket;
    if (level.queues === undefined) return this.#reject(ticket, 'concurrency-limit');
    if (!level.queues.add(ticket, isLocal)) return this.#reject(ticket, 'queue-full');
    entry.metrics.queueLength.observe(level.waiting);
    entry.waiting++;
    entry.waitingSeats += ticket.seats;
    this.#waiting++;
    this.#noteDemand(level, nowMs);
    ticket.queuedMs = this.#deps.peerClock.monotonic();
    ticket.arrivedAt = this.#deps.peerClock.now();
    ticket.waitUntilMs = isLocal ? Number.POSITIVE_INFINITY : ticket.queuedMs + this.#config.waitLimitMs(ticket.request);
    this.#sweep ??= this.#deps.peerClock.setTimer(SWEEP_MS, () => this.#rejectLate());
    const admitted = new Promise<Ticket | undefined>((resolve) => {
      ticket.resolve = resolve;
    });
    this.#dispatch(level);
    return admitted;
  }

  #reject({ level, entry }: Ticket, reason: 'queue-full' | 'concurrency-limit' | 'time-out'): undefined {
    level.rejected++;
    level.retryAfter.note(this.#deps.peerClock.now());
    entry.metrics.rejected(reason).inc();
  }

  /** Dispatches while there are free seats, in the level and in this turn. */
  #dispatch(level: Level): void {
    while (this.#dispatchOne(level));
  }

  #dispatchOne(level: Level): boolean {
    const next = level.queues?.peek();
    if (next === undefined) return false;
    if (!level.fits(next.seats)) {
      next.entry.metrics.noAccommodation.inc();
      return false;
    }
    if (!this.#reserveTurnSeats(next)) {
      this.#awaitTurn();
      return false;
    }
    const { account } = level.queues!.take()!;
    this.#leaveQueue(next);
    next.account = account;
    next.entry.metrics.waitSeconds.observe((this.#deps.peerClock.monotonic() - next.queuedMs) / 1000);
    this.#begin(next, this.#deps.clock.monotonic());
    next.resolve?.(next);
    return true;
  }

  #leaveQueue({ entry, seats }: Ticket): void {
    this.#waiting--;
    entry.waiting--;
    entry.waitingSeats -= seats;
  }

  #awaitTurn(): void {
    if (this.#isTurnAwaited) return;
    this.#isTurnAwaited = true;
    this.#deps.nextTurn(() => {
      this.#isTurnAwaited = false;
      this.#turn = this.#deps.turn();
      this.#turnSeats = 0;
      // Round robin over levels: none waits for all requests of another.
      let isAny = true;
      while (isAny) {
        isAny = false;
        for (const level of this.#levels.all()) if (level.waiting > 0) isAny = this.#dispatchOne(level) || isAny;
      }
    });
  }

  #release(ticket: Ticket, nowMs: number): void {
    const { level, entry, seats } = ticket;
    level.seatsInUse -= seats;
    entry.executingSeats -= seats;
    this.#noteDemand(level, nowMs);
    if (level.isQuiescing && level.isIdle) this.#isStale = true;
    if (level.waiting > 0) this.#dispatch(level);
  }

  /** Keeps the seats after the response while the event is delivered to watchers. */
  #holdSeats(ticket: Ticket): void {
    ticket.entry.metrics.watchCount.observe(this.#watchersOf(ticket.request.info.group, ticket.request.info.resource));
    this.#lingering.push({ ticket, untilMs: this.#deps.peerClock.monotonic() + ticket.estimate.additionalLatencyMs });
    this.#linger ??= this.#deps.peerClock.setTimer(ticket.estimate.additionalLatencyMs, () => this.#endLingering());
  }

  #endLingering(): void {
    this.#linger = undefined;
    const nowMs = this.#deps.peerClock.monotonic();
    const due = this.#lingering.filter(({ untilMs }) => untilMs <= nowMs);
    const left = this.#lingering.filter(({ untilMs }) => untilMs > nowMs);
    this.#lingering = left;
    for (const { ticket } of due) this.#release(ticket, this.#deps.clock.monotonic());
    const next = minOf(left.map(({ untilMs }) => untilMs));
    if (left.length > 0) this.#linger = this.#deps.peerClock.setTimer(next - nowMs, () => this.#endLingering());
  }

  #rejectLate(): void {
    const nowMs = this.#deps.peerClock.monotonic();
    for (const level of this.#levels.all()) {
      for (const ticket of [...(level.queues ?? [])]) {
        if (ticket.waitUntilMs > nowMs) continue;
        level.queues!.remove(ticket);
        this.#leaveQueue(ticket);
        level.timedOut++;
        ticket.entry.metrics.rejectedWaitSeconds.observe((nowMs - ticket.queuedMs) / 1000);
        this.#reject(ticket, 'time-out');
        ticket.resolve?.(undefined);
      }
    }
    this.#sweep = this.#waiting > 0 ? this.#deps.peerClock.setTimer(SWEEP_MS, () => this.#rejectLate()) : undefined;
  }
}
