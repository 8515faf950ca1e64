import { isPromise, type MetricsRegistry } from '#base';
import type { FlowController } from '../flow-control/flow-controller.ts';
import type { FlowEntry, Ticket } from '../flow-control/ticket.ts';
import type { ApiResponse, Handler } from '../handlers/api-response.ts';
import type { ApiRequest } from '../request/api-request.ts';
import type { Filter } from './chain.ts';
import { requestKinds, TOO_MANY_REQUESTS } from './in-flight-limit.ts';
import { isLongRunning, isMutating } from './long-running.ts';
import type { RequestMetrics } from './request-metrics.ts';

export interface PriorityAndFairnessOptions {
  readonly flowControl: FlowController;
  readonly metrics: MetricsRegistry;
  readonly requests: Pick<RequestMetrics, 'countTermination'>;
}

/** API priority and fairness: rejected requests get 429. As upstream, long-running requests except watches are exempt. */
export function priorityAndFairness({ flowControl, metrics, requests }: PriorityAndFairnessOptions): Filter {
  const { reads, writes } = requestKinds(metrics);
  const enter = (ticket: Ticket, next: Handler): ApiResponse | Promise<ApiResponse> => {
    const { request } = ticket;
    const kind = isMutating(request.info) ? writes : reads;
    kind.open++;
    const finish = () => {
      kind.open--;
      flowControl.finish(ticket);
    };
    if (request.info.verb === 'watch') return beginWatch(request, { next, finish, flowControl });
    request.onFinished(finish);
    return next(request);
  };
  const reject = (request: ApiRequest, { level }: FlowEntry): ApiResponse => {
    (isMutating(request.info) ? writes : reads).dropped.inc();
    requests.countTermination(request, 429);
    return { ...TOO_MANY_REQUESTS, headers: { ...TOO_MANY_REQUESTS.headers, 'retry-after': String(level.retryAfter.seconds) } };
  };
  return (request, next) => {
    if (isLongRunning(request.info) && request.info.verb !== 'watch') return next(request);
    const flow = flowControl.classify(request);
    request.flow = flow;
    const ticket = flowControl.admit(request, flow);
    if (ticket === undefined) return reject(request, flow);
    if (!isPromise(ticket)) return enter(ticket, next);
    return ticket.then((admitted) => (admitted === undefined ? reject(request, flow) : enter(admitted, next)));
  };
}

interface WatchSteps {
  readonly next: Handler;
  readonly finish: () => void;
  readonly flowControl: FlowController;
}

/** A watch occupies seats until it is initialized; afterwards it only affects the cost estimate of writes. */
async function beginWatch(request: ApiRequest, { next, finish, flowControl }: WatchSteps): Promise<ApiResponse> {
  try {
    if (!request.isLocal) request.onFinished(flowControl.watched(request));
    return await next(request);
  } finally {
    finish();
  }
}
