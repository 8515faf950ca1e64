import type { Clock, EventLoopWatch, MetricsRegistry, Random, Tracer } from '#base';
import type { Audit } from '../audit/audit.ts';
import type { Authenticator } from '../authn/authenticator.ts';
import type { Authorizer } from '../authz/authorizer.ts';
import type { FlowController } from '../flow-control/flow-controller.ts';
import type { ApiResponse, Handler } from '../handlers/api-response.ts';
import type { ResourceTable } from '../registry/generic/resource-table.ts';
import type { ApiRequest } from '../request/api-request.ts';
import { accessMetrics } from './access-metrics.ts';
import { recordFailedAuthentication, recordRequests } from './audit.ts';
import { auditContext } from './audit-context.ts';
import { authenticate } from './authentication.ts';
import { authorize } from './authorization.ts';
import { allowOrigins } from './cors.ts';
import { deadline } from './deadline.ts';
import { goAway } from './go-away.ts';
import { impersonate } from './impersonation.ts';
import { type InFlightLimits, limitInFlight } from './in-flight-limit.ts';
import { priorityAndFairness } from './priority-and-fairness.ts';
import { countRequests, requestMetrics } from './request-metrics.ts';
import type { RequestsInFlight } from './requests-in-flight.ts';
import { strictTransportSecurity } from './strict-transport-security.ts';
import { traceHandlers, traceRequests } from './tracing.ts';
import { watchTurns } from './turn-watch.ts';

/** A step that every request passes. It throws to reject, or responds instead of calling `next`. */
export type Filter = (request: ApiRequest, next: Handler) => Promise<ApiResponse> | ApiResponse;

/** Runs filters in the order of the array, then the handler. */
export function chain(filters: readonly Filter[], handler: Handler): Handler {
  return filters.reduceRight<Handler>((next, filter) => (request) => filter(request, next), handler);
}

/** Response headers for browsers and load balancing. Absent: none. */
export interface HttpPolicy {
  /** As `--cors-allowed-origins`: patterns of allowed origins. */
  readonly allowedOrigins?: readonly string[];
  /** As `--strict-transport-security-directives`. */
  readonly strictTransportSecurity?: readonly string[];
  /** As `--goaway-chance`. */
  readonly goAwayChance?: number;
}

export interface ChainOptions {
  readonly table: ResourceTable;
  readonly metrics: MetricsRegistry;
  readonly random: Random;
  /** Real time: requests take real time whatever the cluster's clock does. */
  readonly clock: Clock;
  readonly inFlight: RequestsInFlight;
  readonly eventLoop: EventLoopWatch;
  readonly limits: InFlightLimits & { readonly requestTimeoutMs: number };
  readonly http?: HttpPolicy | undefined;
  readonly authenticators: readonly Authenticator[];
  /** Whether a request for this path needs no credentials. */
  readonly allowsAnonymous: (path: string) => boolean;
  readonly authorizer: Authorizer;
  /** Undefined: no auditing. */
  readonly audit?: Audit | undefined;
  /** Absent: no tracing. */
  readonly tracer?: Tracer | undefined;
  /** Absent: global in-flight limits instead. */
  readonly flowControl?: FlowController | undefined;
}

/** All requests pass these filters in this order, from the network and in-process. */
export function requestChain(options: ChainOptions, handler: Handler): Handler {
  const { metrics, random, clock, table, inFlight, limits, authorizer, audit, flowControl, tracer, http = {} } = options;
  const requests = requestMetrics(metrics, table);
  const access = accessMetrics(metrics, clock);
  return chain(
    [
      watchTurns(options.eventLoop),
      auditContext(random),
      ...(http.strictTransportSecurity ? [strictTransportSecurity(http.strictTransportSecurity)] : []),
      ...(http.goAwayChance ? [goAway(http.goAwayChance, random)] : []),
      countRequests(requests, clock),
      deadline({ inFlight, metrics: requests, requestTimeoutMs: limits.requestTimeoutMs }),
      ...(http.allowedOrigins ? [allowOrigins(http.allowedOrigins)] : []),
      authenticate({ ...options, access, ...(audit && { onFailure: (request) => recordFailedAuthentication(audit, request) }) }),
      ...(tracer ? [traceRequests(tracer)] : []),
      ...(audit ? [recordRequests(audit)] : []),
      impersonate(authorizer),
      flowControl ? priorityAndFairness({ flowControl, metrics, requests }) : limitInFlight({ ...limits, metrics, requests }),
      authorize(authorizer, access),
      ...(tracer ? [traceHandlers(tracer)] : []),
    ],
    handler,
  );
}
