import type { flowcontrol } from '#api';
import { SlotList, type Slotted } from '#base';
import { FairQueues, type QueuedRequest, type QueuingConfig } from './fair-queues.ts';
import { RetryAfter } from './retry-after.ts';
import { SeatDemand } from './seat-demand.ts';

export interface LevelLimits {
  /** Seats: nominal share, and its bounds with lending and borrowing. */
  readonly nominal: number;
  readonly lowest: number;
  readonly highest: number;
}

/** A priority level. */
export class PriorityLevel<T extends QueuedRequest & Slotted> {
  readonly name: string;
  uid = '';
  spec: flowcontrol.PriorityLevelConfigurationSpec;
  isExempt = false;
  /** Undefined: excess requests are rejected. */
  queues: FairQueues<T> | undefined;
  limits: LevelLimits = { nominal: 0, lowest: 0, highest: 0 };
  /** The current seat limit. */
  limit = 0;
  /** The maximum seats of one request. */
  maxSeats = Number.POSITIVE_INFINITY;
  /** Its object is deleted, but requests are unfinished. */
  isQuiescing = false;
  seatsInUse = 0;
  /** Executing requests. */
  readonly executing = new SlotList<T>();
  dispatched = 0;
  rejected = 0;
  timedOut = 0;
  readonly demand: SeatDemand;
  readonly retryAfter = new RetryAfter();

  constructor(name: string, spec: flowcontrol.PriorityLevelConfigurationSpec, nowMs: number) {
    this.name = name;
    this.spec = spec;
    this.demand = new SeatDemand(nowMs);
    this.configure(spec, '');
  }

  configure(spec: flowcontrol.PriorityLevelConfigurationSpec, uid: string): void {
    this.spec = spec;
    this.uid = uid;
    this.isQuiescing = false;
    this.isExempt = spec.type === 'Exempt';
    const queuing = spec.limited?.limitResponse?.queuing;
    const config: QueuingConfig | undefined = queuing && {
      queues: queuing.queues ?? 64,
      handSize: queuing.handSize ?? 8,
      queueLengthLimit: queuing.queueLengthLimit ?? 50,
    };
    if (config === undefined) {
      if (this.waiting === 0) this.queues = undefined;
    } else if (this.queues === undefined) this.queues = new FairQueues(config);
    else this.queues.configure(config);
  }

  get shares(): number {
    return this.spec.limited?.nominalConcurrencyShares ?? this.spec.exempt?.nominalConcurrencyShares ?? (this.isExempt ? 0 : 30);
  }

  /** Limits a request to a fraction of the level, and to its flow's share of the queues. */
  setLimits(limits: LevelLimits): void {
    this.limits = limits;
    const handSize = this.spec.limited?.limitResponse?.queuing?.handSize;
    if (handSize === undefined) this.maxSeats = Number.POSITIVE_INFINITY;
    else this.maxSeats = Math.max(1, Math.min(Math.ceil(limits.nominal * 0.15), Math.floor(limits.nominal / handSize)));
  }

  get waiting(): number {
    return this.queues?.size ?? 0;
  }

  get isIdle(): boolean {
    return this.waiting === 0 && this.seatsInUse === 0;
  }

  /** A request wider than the whole level runs alone. */
  fits(seats: number): boolean {
    return this.isExempt || this.seatsInUse + seats <= this.limit || (seats > this.limit && this.seatsInUse === 0);
  }
}
