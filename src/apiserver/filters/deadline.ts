import { parseDurationMs, StatusError } from '#machinery';
import type { ApiRequest } from '../request/api-request.ts';
import type { Filter } from './chain.ts';
import { isLongRunning } from './long-running.ts';
import type { RequestMetrics } from './request-metrics.ts';
import type { RequestsInFlight } from './requests-in-flight.ts';

export interface DeadlineOptions {
  readonly inFlight: RequestsInFlight;
  readonly metrics: Pick<RequestMetrics, 'countTermination'>;
  /** The timeout of requests that are not long-running. */
  readonly requestTimeoutMs: number;
}

/** Ends requests that exceed their timeout with 504. In-process callers use their own signal. */
export function deadline({ inFlight, metrics, requestTimeoutMs }: DeadlineOptions): Filter {
  return (request, next) => {
    if (request.isLocal || isLongRunning(request.info)) return next(request);
    const flight = {
      slot: -1,
      deadlineMs: inFlight.now() + timeoutOf(request, requestTimeoutMs),
      expire: () => {
        metrics.countTermination(request, 504);
        request.cancel?.(StatusError.timeout('request did not complete within the allotted timeout', 0));
      },
    };
    inFlight.begin(flight);
    request.onFinished(() => inFlight.end(flight));
    return next(request);
  };
}

/** Clients may request a shorter timeout, never a longer one. */
export function timeoutOf(request: ApiRequest, longestMs: number): number {
  const text = request.query.get('timeout');
  if (!text) return longestMs;
  try {
    const requested = parseDurationMs(text);
    return requested > 0 ? Math.min(requested, longestMs) : longestMs;
  } catch (error) {
    throw StatusError.badRequest(`invalid timeout specified in the request URL - ${(error as Error).message}`);
  }
}
