import type { Counter, MetricsRegistry } from '#base';
import type { RawResponse } from '../handlers/api-response.ts';
import type { ApiRequest } from '../request/api-request.ts';
import type { Filter } from './chain.ts';
import { isLongRunning, isMutating } from './long-running.ts';
import type { RequestMetrics } from './request-metrics.ts';

export interface InFlightLimits {
  /** As `--max-requests-inflight`: concurrent reads. 0: unlimited. Default 400. */
  readonly maxRequestsInFlight?: number;
  /** As `--max-mutating-requests-inflight`: concurrent writes. 0: unlimited. Default 200. */
  readonly maxMutatingRequestsInFlight?: number;
}

export const DEFAULT_READS = 400;
export const DEFAULT_WRITES = 200;
const PRIVILEGED_GROUP = 'system:masters';

export const TOO_MANY_REQUESTS: RawResponse = {
  type: 'raw',
  code: 429,
  contentType: 'text/plain; charset=utf-8',
  body: 'Too many requests, please try again later.\n',
  headers: { 'retry-after': '1', 'x-content-type-options': 'nosniff' },
};

export interface InFlightLimitOptions extends InFlightLimits {
  readonly metrics: MetricsRegistry;
  readonly requests: Pick<RequestMetrics, 'countTermination'>;
}

/** Open and dropped requests of one kind. */
export interface RequestKind {
  open: number;
  readonly dropped: Counter;
}

interface Pool extends RequestKind {
  readonly limit: number;
}

/**
 * Limits concurrent requests; excess ones get 429. As upstream, long-running requests and system:masters are exempt.
 * In-process requests are counted but not limited.
 */
export function limitInFlight(options: InFlightLimitOptions): Filter {
  const { reads, writes } = pools(options);
  return (request, next) => {
    if (isLongRunning(request.info)) return next(request);
    const pool = isMutating(request.info) ? writes : reads;
    if (pool.open >= pool.limit && !isExempt(request)) {
      pool.dropped.inc();
      options.requests.countTermination(request, 429);
      return TOO_MANY_REQUESTS;
    }
    pool.open++;
    request.onFinished(() => void pool.open--);
    return next(request);
  };
}

function pools({ metrics, maxRequestsInFlight = DEFAULT_READS, maxMutatingRequestsInFlight = DEFAULT_WRITES }: InFlightLimitOptions) {
  const { reads, writes } = requestKinds(metrics);
  const limited = (kind: RequestKind, limit: number): Pool => Object.assign(kind, { limit: limit === 0 ? Infinity : limit });
  return { reads: limited(reads, maxRequestsInFlight), writes: limited(writes, maxMutatingRequestsInFlight) };
}

export function requestKinds(metrics: MetricsRegistry): { readonly reads: RequestKind; readonly writes: RequestKind } {
  const current = metrics.gauge({
    name: 'apiserver_current_inflight_requests',
    help: 'Requests that are being answered, long-running ones aside.',
    labels: ['request_kind'],
  });
  const dropped = metrics.counter({
    name: 'apiserver_dropped_requests_total',
    help: 'Requests that were answered 429 because too many were in flight.',
    labels: ['request_kind'],
  });
  const kind = (request_kind: string): RequestKind => {
    const counter = { open: 0, dropped: dropped.with({ request_kind }) };
    current.with({ request_kind }).collect(() => counter.open);
    return counter;
  };
  return { reads: kind('readOnly'), writes: kind('mutating') };
}

function isExempt({ isLocal, user }: ApiRequest): boolean {
  return isLocal || user?.groups.includes(PRIVILEGED_GROUP) === true;
}
