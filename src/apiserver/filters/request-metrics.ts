import type { Clock, Counter, Histogram, MetricsRegistry } from '#base';
import { LATENCY_BUCKETS } from '../metrics/latency-buckets.ts';
import type { ResourceTable } from '../registry/generic/resource-table.ts';
import type { ServedResource } from '../registry/generic/served-resource.ts';
import type { ApiRequest } from '../request/api-request.ts';
import type { Filter } from './chain.ts';
import { isLongRunning } from './long-running.ts';

export interface RequestOutcome {
  readonly code: number;
  readonly seconds: number;
  readonly isLongRunning: boolean;
}

/** Request metrics under upstream's names. */
export interface RequestMetrics {
  count(request: ApiRequest, outcome: RequestOutcome): void;
  countTermination(request: ApiRequest, code: number): void;
  beginLongRunning(request: ApiRequest): void;
}

/** Counts requests and their durations. */
export function countRequests(metrics: RequestMetrics, clock: Clock): Filter {
  return (request, next) => {
    const begunMs = clock.monotonic();
    const lasts = isLongRunning(request.info);
    if (lasts) metrics.beginLongRunning(request);
    request.onFinished((code) => metrics.count(request, { code, seconds: (clock.monotonic() - begunMs) / 1000, isLongRunning: lasts }));
    return next(request);
  };
}

const REQUEST_LABELS = ['verb', 'group', 'version', 'resource', 'subresource', 'scope', 'component'] as const;

/** `table` limits the series: unknown paths share one, so that clients cannot create series at will. */
export function requestMetrics(metrics: MetricsRegistry, table: ResourceTable): RequestMetrics {
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
  const deprecated = metrics.gauge({
    name: 'apiserver_requested_deprecated_apis',
    help: 'Deprecated APIs that were requested, and the release that no longer serves them.',
    labels: ['group', 'version', 'resource', 'subresource', 'removed_release'],
  });
  // Cached: finding a series by its labels costs more than counting.
  const cached = new Map<string, { total: Counter; duration: Histogram }>();
  const series = (request: ApiRequest, code: number) => {
    const labels = labelsOf(request, table);
    const dryRun = request.query.size > 0 && request.query.has('dryRun') ? 'All' : '';
    const { verb, group, version, resource, subresource, scope } = labels;
    const key = `${verb} ${group} ${version} ${resource} ${subresource} ${scope} ${code} ${dryRun}`;
    let entry = cached.get(key);
    if (entry === undefined) {
      const all = { ...labels, dry_run: dryRun };
      entry = { total: total.with({ ...all, code: String(code) }), duration: duration.with(all) };
      cached.set(key, entry);
      const served = table.find(group, version, resource);
      if (served?.deprecation !== undefined)
        deprecated.with({ group, version, resource, subresource, removed_release: served.removedRelease ?? '' }).set(1);
    }
    return entry;
  };
  return {
    count(request, { code, seconds, isLongRunning }) {
      const counted = series(request, code);
      counted.total.inc();
      counted.duration.observe(seconds);
      if (isLongRunning) lasting.with(labelsOf(request, table)).dec();
    },
    countTermination: (request, code) => terminations.with({ ...labelsOf(request, table), code: String(code) }).inc(),
    beginLongRunning: (request) => lasting.with(labelsOf(request, table)).inc(),
  };
}

function labelsOf(request: ApiRequest, table: ResourceTable) {
  const { info } = request;
  const { isResource, group, version, resource, subresource } = info;
  const verb = verbOf(request);
  const component = 'apiserver';
  const served = isResource ? table.find(group, version, resource) : undefined;
  if (served === undefined) return { verb, scope: '', component, group: '', version: '', resource: '', subresource: '' };
  return { verb, scope: scopeOf(info), component, group, version, resource, subresource: subresourceOf(served, subresource) };
}

function subresourceOf({ subresources }: ServedResource, subresource: string): string {
  return subresources.has(subresource) ? subresource : '';
}

const VERB_LABELS: ReadonlyMap<string, string> = new Map([
  ['create', 'POST'],
  ['update', 'PUT'],
  ['get', 'GET'],
  ['list', 'LIST'],
  ['watch', 'WATCH'],
  ['patch', 'PATCH'],
  ['delete', 'DELETE'],
  ['deletecollection', 'DELETECOLLECTION'],
  ['proxy', 'PROXY'],
]);
const KNOWN_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'CONNECT']);

/** Upstream reports HTTP methods, except for LIST, WATCH and APPLY. */
function verbOf(request: ApiRequest): string {
  const { isResource, verb } = request.info;
  if (!isResource) return KNOWN_METHODS.has(request.method) ? request.method : 'other';
  if (verb === 'patch' && isApply(request)) return 'APPLY';
  return VERB_LABELS.get(verb) ?? 'other';
}

function isApply(request: ApiRequest): boolean {
  return request.header('content-type')?.startsWith('application/apply-patch') ?? false;
}

function scopeOf({ name, namespace, verb }: ApiRequest['info']): string {
  if (name !== '' || verb === 'create') return 'resource';
  return namespace !== '' ? 'namespace' : 'cluster';
}
