import { type Clock, type MetricsRegistry, realClock } from '#base';
import { timeoutOf } from './filters/deadline.ts';
import { DEFAULT_READS, DEFAULT_WRITES, type InFlightLimits } from './filters/in-flight-limit.ts';
import { FlowController } from './flow-control/flow-controller.ts';
import type { RequestBatcher } from './http/request-batcher.ts';
import type { ResourceTable } from './registry/generic/resource-table.ts';
import type { ApiRequest } from './request/api-request.ts';

export interface FlowControlSettings {
  readonly inFlight?: InFlightLimits;
  readonly requestTimeoutMs?: number;
}

export interface FlowControlParts {
  readonly table: ResourceTable;
  readonly metrics: MetricsRegistry;
  readonly clock: Clock;
  readonly turns: Pick<RequestBatcher, 'turn' | 'afterNext'>;
}

const REQUEST_TIMEOUT_MS = 60_000;
const MAX_WAIT_MS = 60_000;
/** The fraction of its timeout that a request may be queued. */
const WAIT_PART = 4;

/** Flow control with upstream's limits: the sum of both in-flight limits, and a quarter of the request timeout in a queue. */
export function flowController({ inFlight, requestTimeoutMs }: FlowControlSettings, { turns, ...parts }: FlowControlParts): FlowController {
  const { maxRequestsInFlight = DEFAULT_READS, maxMutatingRequestsInFlight = DEFAULT_WRITES } = inFlight ?? {};
  const longest = requestTimeoutMs ?? REQUEST_TIMEOUT_MS;
  const waitLimitMs = (request: ApiRequest) => Math.min(timeoutOf(request, longest) / WAIT_PART, MAX_WAIT_MS);
  return new FlowController(
    { totalSeats: maxRequestsInFlight + maxMutatingRequestsInFlight, waitLimitMs },
    { ...parts, peerClock: realClock, turn: () => turns.turn, nextTurn: (callback) => turns.afterNext(callback) },
  );
}
