import type { Counter, Histogram, MetricsRegistry } from '#base';
import type { RequestsInFlight } from './http/requests-in-flight.ts';
import type { ApiRequest } from './request/api-request.ts';

export interface Answered {
  readonly code: number;
  readonly seconds: number;
  readonly isLongRunning: boolean;
}

/** What upstream's dashboards and alerts ask for, under upstream's names. */
export interface RequestMetrics {
  count(request: ApiRequest, answered: Answered): void;
  countTermination(request: ApiRequest, code: number): void;
  beginLongRunning(request: ApiRequest): void;
}

export const LATENCY_BUCKETS = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60];
const REQUEST_LABELS = ['verb', 'group', 'version', 'resource', 'subresource', 'scope', 'component'] as const;

export function requestMetrics(metrics: MetricsRegistry, inFlight: RequestsInFlight): RequestMetrics {
  const total = metrics.counter({
    name: 'apiserver_request_total',
    help: 'Requests that were answered, by what they asked for and the code of the answer.',
    labels: [...REQUEST_LABELS, 'dry_run', 'code'],
  });
  const duration = metrics.histogram({
    name: 'apiserver_request_duration_seconds',
    help: 'Seconds from a request to the end of its answer.',
    labels: [...REQUEST_LABELS, 'dry_run'],
    buckets: LATENCY_BUCKETS,
  });
  const lasting = metrics.gauge({
    name: 'apiserver_longrunning_requests',
    help: 'Requests that last by their nature, such as watches, and are open.',
    labels: REQUEST_LABELS,
  });
  const terminations = metrics.counter({
    name: 'apiserver_request_terminations_total',
    help: 'Requests that were ended because they took too long.',
    labels: [...REQUEST_LABELS, 'code'],
  });
  const current = metrics.gauge({
    name: 'apiserver_current_inflight_requests',
    help: 'Requests that are being answered, but for those that last by their nature.',
    labels: ['request_kind'],
  });
  current.with({ request_kind: 'mutating' }).collect(() => inFlight.mutating);
  current.with({ request_kind: 'readOnly' }).collect(() => inFlight.readOnly);
  // Finding a series by its labels costs more than counting.
  const known = new Map<string, { total: Counter; duration: Histogram }>();
  const series = (request: ApiRequest, code: number) => {
    const dryRun = request.query.size > 0 && request.query.has('dryRun') ? 'All' : '';
    const key = `${keyOf(request)} ${code} ${dryRun}`;
    let found = known.get(key);
    if (found === undefined) {
      const labels = { ...labelsOf(request), dry_run: dryRun };
      found = { total: total.with({ ...labels, code: String(code) }), duration: duration.with(labels) };
      known.set(key, found);
    }
    return found;
  };
  return {
    count(request, { code, seconds, isLongRunning }) {
      const counted = series(request, code);
      counted.total.inc();
      counted.duration.observe(seconds);
      if (isLongRunning) lasting.with(labelsOf(request)).dec();
    },
    countTermination: (request, code) => terminations.with({ ...labelsOf(request), code: String(code) }).inc(),
    beginLongRunning: (request) => lasting.with(labelsOf(request)).inc(),
  };
}

function keyOf(request: ApiRequest): string {
  const { verb, group, version, resource, subresource } = request.info;
  return `${verb} ${group} ${version} ${resource} ${subresource} ${scopeOf(request.info)} ${verb === 'patch' ? isApply(request) : request.method}`;
}

function labelsOf(request: ApiRequest) {
  const { isResource, group, version, resource, subresource } = request.info;
  const shared = { verb: verbOf(request), scope: scopeOf(request.info), component: 'apiserver' };
  if (!isResource) return { ...shared, group: '', version: '', resource: '', subresource: '' };
  return { ...shared, group, version, resource, subresource };
}

const METHODS: Readonly<Record<string, string>> = { create: 'POST', update: 'PUT' };
const KNOWN_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'CONNECT']);

/** Upstream reports methods, but tells lists, watches and applies apart. */
function verbOf(request: ApiRequest): string {
  const { isResource, verb } = request.info;
  if (!isResource) return KNOWN_METHODS.has(request.method) ? request.method : 'other';
  if (verb === 'patch' && isApply(request)) return 'APPLY';
  return METHODS[verb] ?? verb.toUpperCase();
}

function isApply(request: ApiRequest): boolean {
  return request.header('content-type')?.startsWith('application/apply-patch') ?? false;
}

function scopeOf({ isResource, name, namespace, verb }: ApiRequest['info']): string {
  if (name !== '' || (isResource && verb === 'create')) return 'resource';
  if (namespace !== '') return 'namespace';
  return isResource ? 'cluster' : '';
}
