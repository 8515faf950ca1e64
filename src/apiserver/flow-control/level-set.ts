import { flowcontrol } from '#api';
import type { Slotted } from '#base';
import { allocateConcurrency } from './allocate-concurrency.ts';
import type { QueuedRequest } from './fair-queues.ts';
import type { FlowMetrics } from './flow-metrics.ts';
import { type LevelLimits, PriorityLevel } from './priority-level.ts';
import type { DemandStats } from './seat-demand.ts';

type Level<T extends QueuedRequest & Slotted> = PriorityLevel<T>;

interface Adjustment extends DemandStats {
  readonly target: number;
}

const NO_DEMAND: Adjustment = { highWatermark: 0, average: 0, deviation: 0, smoothed: 0, target: 0 };

/** The priority levels and their shares of the server's seats. */
export class LevelSet<T extends QueuedRequest & Slotted> {
  readonly #totalSeats: number;
  readonly #metrics: FlowMetrics;
  readonly #levels = new Map<string, Level<T>>();
  readonly #adjustments = new Map<string, Adjustment>();

  constructor(totalSeats: number, metrics: FlowMetrics) {
    this.#totalSeats = totalSeats;
    this.#metrics = metrics;
  }

  get(name: string): Level<T> | undefined {
    const level = this.#levels.get(name);
    return level?.isQuiescing ? undefined : level;
  }

  /** Includes removed levels with unfinished requests. */
  all(): Iterable<Level<T>> {
    return this.#levels.values();
  }

  configure(objects: Iterable<flowcontrol.PriorityLevelConfiguration>, nowMs: number): void {
    const levels = new Map([...objects].map((object) => [object.metadata.name ?? '', object]));
    for (const [name, { metadata, spec }] of levels) if (spec !== undefined) this.#put(name, { spec, uid: metadata.uid ?? '' }, nowMs);
    for (const [name, spec] of flowcontrol.MANDATORY_PRIORITY_LEVELS) if (!levels.has(name)) this.#put(name, { spec, uid: '' }, nowMs);
    for (const [name, level] of this.#levels) {
      if (levels.has(name) || flowcontrol.MANDATORY_PRIORITY_LEVELS.has(name)) continue;
      level.isQuiescing = true;
      if (level.isIdle) this.#levels.delete(name);
    }
    this.#share();
    this.adjust(nowMs);
  }

  #put(name: string, { spec, uid }: { spec: flowcontrol.PriorityLevelConfigurationSpec; uid: string }, nowMs: number): void {
    let level = this.#levels.get(name);
    if (level === undefined) {
      level = new PriorityLevel<T>(name, spec, nowMs);
      this.#levels.set(name, level);
      this.#metrics.level(name, () => this.#gauges(name));
    }
    level.configure(spec, uid);
  }

  /** Computes nominal, lendable and borrowable seats. */
  #share(): void {
    const shares = [...this.#levels.values()].reduce((sum, level) => sum + level.shares, 0);
    for (const level of this.#levels.values()) {
      const { lendablePercent = 0 } = level.spec.limited ?? level.spec.exempt ?? {};
      const borrowing = level.spec.limited?.borrowingLimitPercent;
      const nominal = shares === 0 ? 0 : Math.ceil((this.#totalSeats * level.shares) / shares);
      const lendable = Math.round((nominal * (lendablePercent ?? 0)) / 100);
      const highest =
        nominal + (borrowing === undefined || borrowing === null ? this.#totalSeats : Math.round((nominal * borrowing) / 100));
      level.setLimits({ nominal, lowest: nominal - lendable, highest });
      if (level.limit === 0) level.limit = nominal - Math.floor(lendable / 2);
    }
  }

  /** Lends unused seats to levels with demand. */
  adjust(nowMs: number): void {
    const levels = [...this.#levels.values()];
    const total = levels.reduce((sum, { limits }) => sum + limits.nominal, 0);
    const demands = levels.map((level) => ({ level, stats: level.demand.period(nowMs) }));
    const limited = demands.filter(({ level }) => !level.isExempt).map(claimOf);
    const exempt = demands.filter(({ level }) => level.isExempt);
    for (const { level, stats } of exempt) this.#set(level, Math.max(level.limits.lowest, stats.highWatermark), { ...stats, target: 0 });
    const remaining = total - exempt.reduce((sum, { level }) => sum + level.limit, 0);
    const seats = divide(remaining, total, limited);
    for (const [i, { level, stats, target }] of limited.entries()) this.#set(level, Math.round(seats[i]!), { ...stats, target });
  }

  #set(level: Level<T>, limit: number, adjustment: Adjustment): void {
    level.limit = limit;
    this.#adjustments.set(level.name, adjustment);
  }

  #gauges(name: string) {
    const level = this.#levels.get(name);
    const { nominal = 0, lowest = 0, highest = 0 } = level?.limits ?? {};
    const virtualTime = level?.queues?.virtualTime ?? 0;
    return { nominal, lowest, highest, limit: level?.limit ?? 0, virtualTime, ...(this.#adjustments.get(name) ?? NO_DEMAND) };
  }
}

interface Claim {
  readonly level: { readonly limits: LevelLimits };
  /** The minimum demand within its share. */
  readonly needed: number;
  readonly target: number;
}

function claimOf<T extends QueuedRequest & Slotted>({ level, stats }: { level: Level<T>; stats: DemandStats }) {
  const { lowest, nominal } = level.limits;
  const needed = Math.max(lowest, Math.min(nominal, stats.highWatermark));
  return { level, stats, needed, target: Math.max(needed, stats.smoothed) };
}

/** As upstream: seats of exempt requests are taken from surplus first, then from demand. */
function divide(remaining: number, total: number, claims: readonly Claim[]): readonly number[] {
  const lowest = claims.reduce((sum, { level }) => sum + level.limits.lowest, 0);
  const needed = claims.reduce((sum, claim) => sum + claim.needed, 0);
  if (remaining <= lowest) return claims.map(({ level }) => level.limits.lowest);
  if (remaining <= needed) {
    const share = (remaining - lowest) / (needed - lowest);
    return claims.map((claim) => claim.level.limits.lowest + (claim.needed - claim.level.limits.lowest) * share);
  }
  return allocateConcurrency(
    total,
    claims.map(({ level, needed: low, target }) => ({ target, lowest: low, highest: level.limits.highest })),
  );
}
