import type { Slotted } from '#base';
import type { ApiRequest } from '../request/api-request.ts';
import type { Account, QueuedRequest } from './fair-queues.ts';
import type { FlowMetrics, SchemaGauges, SchemaMetrics } from './flow-metrics.ts';
import type { FlowSchema } from './flow-schemas.ts';
import type { PriorityLevel } from './priority-level.ts';
import type { WorkEstimate } from './work-estimate.ts';

/** Upstream's estimate of a request's duration. */
const EXPECTED_SECONDS = 0.003;

/** A flow schema with its metrics. */
export interface FlowEntry extends FlowSchema<PriorityLevel<Ticket>>, SchemaGauges {
  readonly metrics: SchemaMetrics;
  executing: number;
  executingSeats: number;
  waiting: number;
  waitingSeats: number;
}

/** `before` is the replaced entry of the same name, whose requests still count. */
export function flowEntry(schema: FlowSchema<PriorityLevel<Ticket>>, metrics: FlowMetrics, before: FlowEntry | undefined): FlowEntry {
  if (before !== undefined && before.level === schema.level) return Object.assign(before, schema);
  const counts = { executing: 0, executingSeats: 0, waiting: 0, waitingSeats: 0 };
  const entry = { ...schema, ...counts } as FlowEntry;
  return Object.assign(entry, { metrics: metrics.schema(schema.level.name, schema.name, entry) });
}

/** A request's claim to seats. */
export class Ticket implements QueuedRequest, Slotted {
  readonly seats: number;
  readonly isLocal: boolean;
  slot = -1;
  startedMs = 0;
  queuedMs = 0;
  /** Milliseconds since the epoch. */
  arrivedAt = 0;
  waitUntilMs = 0;
  account: Account | undefined;
  resolve: ((ticket: Ticket | undefined) => void) | undefined;

  constructor(
    readonly entry: FlowEntry,
    readonly request: ApiRequest,
    readonly estimate: WorkEstimate,
  ) {
    this.seats = Math.max(estimate.initialSeats, estimate.finalSeats);
    this.isLocal = request.isLocal;
  }

  get level(): PriorityLevel<Ticket> {
    return this.entry.level;
  }

  get flow(): string {
    return `${this.entry.name}/${this.distinguisher}`;
  }

  /** Distinguishes flows of one schema. */
  get distinguisher(): string {
    switch (this.entry.spec.distinguisherMethod?.type) {
      case 'ByUser':
        return this.request.user?.name ?? '';
      case 'ByNamespace':
        return this.request.info.namespace;
      default:
        return '';
    }
  }

  get work(): number {
    const { initialSeats, finalSeats, additionalLatencyMs } = this.estimate;
    return initialSeats * EXPECTED_SECONDS + (finalSeats * additionalLatencyMs) / 1000;
  }

  /** Charges the flow for the actual work. */
  settle(seconds: number): void {
    this.account?.settle(this.estimate.initialSeats * (seconds - EXPECTED_SECONDS));
  }
}
