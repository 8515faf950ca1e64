import { apidiscoveryV2 } from '#api';
import type { MetricsRegistry } from '#base';
import { METRICS_CONTENT_TYPE } from '#base';
import { aggregatedCore, aggregatedGroups, apiVersions, groupDocument, groupList, resourceList } from '../discovery/discovery.ts';
import { groupsInOrder, type RemoteVersions } from '../discovery/merged-groups.ts';
import type { ResourceTable } from '../registry/generic/resource-table.ts';
import type { ApiRequest } from '../request/api-request.ts';
import { encodeMedia } from '../request/media.ts';
import { aggregatedType, checkProducible, negotiate, negotiateAggregated, OBJECT_TYPES } from '../request/negotiation.ts';
import { JSON_TYPE } from '../request/parse-body.ts';
import type { ApiResponse, Handler } from './api-response.ts';
import { etagResponse } from './etag.ts';
import type { HealthChecks } from './health/health-checks.ts';
import { methodNotAllowed, PAGE_NOT_FOUND, resourceNotFound } from './route.ts';

export interface NonResourceDeps {
  readonly table: ResourceTable;
  readonly health: HealthChecks;
  readonly metrics: MetricsRegistry;
  /** Called before the metrics are read. */
  readonly beforeMetrics: () => void;
  readonly version: Readonly<Record<string, string>>;
  /** host:port under which clients reach the server. */
  readonly address: () => string;
  /** Further paths, by prefix: `/openapi/`, `/openid/`. */
  readonly extra: readonly { readonly prefix: string; readonly handler: Handler }[];
  /** The versions of aggregated servers. Undefined while there are none. */
  readonly remote: () => RemoteVersions | undefined;
}

type Route = (request: ApiRequest) => ApiResponse | Promise<ApiResponse>;

/** Serves everything but API resources: discovery, health, version, metrics, OpenAPI. */
export function nonResourceRouter(deps: NonResourceDeps): Handler {
  const { table, health, version, remote } = deps;
  const root: Route = (request) => jsonDocument(request, { paths: rootPaths(deps) });
  const exact = new Map<string, Route>([
    ['/', root],
    ['/index.html', root],
    ['/version', produced([JSON_TYPE], (request) => jsonDocument(request, version))],
    ['/metrics', () => metricsText(deps)],
    ['/metrics/slis', () => textOf(health.metrics)],
    [
      '/api',
      produced(
        OBJECT_TYPES,
        (request) => aggregated(request, () => aggregatedCore(table)) ?? document(request, apiVersions(deps.address())),
      ),
    ],
    ['/apis', (request) => aggregated(request, () => aggregatedGroups(table, remote())) ?? document(request, groupList(table, remote()))],
  ]);
  return (request) => {
    const { path } = request;
    const checked = health.respond(request);
    if (checked !== undefined) return checked;
    const extra = deps.extra.find(({ prefix }) => path === prefix || path.startsWith(`${prefix}/`));
    if (extra !== undefined) return extra.handler(request);
    const trimmed = path.length > 1 && path.endsWith('/') && !path.endsWith('//') ? path.slice(0, -1) : path;
    const route = exact.get(trimmed) ?? groupRoute(trimmed, deps);
    if (route === undefined) return PAGE_NOT_FOUND;
    if (request.method !== 'GET' && !answersAnyMethod(trimmed)) throw methodNotAllowed();
    return route(request);
  };
}

/** Upstream serves discovery for every method, except for the aggregator's own group. */
function answersAnyMethod(path: string): boolean {
  if (path === '/apis/apiregistration.k8s.io') return false;
  return path === '/' || path === '/index.html' || /^\/apis(?:\/[^/]+)?$/.test(path);
}

function metricsText({ metrics, beforeMetrics }: NonResourceDeps): ApiResponse {
  beforeMetrics();
  return textOf(metrics);
}

function textOf(metrics: MetricsRegistry): ApiResponse {
  return { type: 'raw', code: 200, contentType: `${METRICS_CONTENT_TYPE}; escaping=underscores`, body: metrics.text() };
}

function groupRoute(path: string, { table, remote }: NonResourceDeps): Route | undefined {
  if (path.startsWith('/api/')) {
    const version = path.slice('/api/'.length);
    return version === 'v1' ? produced(OBJECT_TYPES, (request) => document(request, resourceList(table, '', version))) : notFound;
  }
  const match = /^\/apis\/([^/]+)(?:\/([^/]+))?$/.exec(path);
  if (match === null) return isBelowBuiltIn(path, table) ? notFound : undefined;
  const [, group = '', version] = match;
  if (version === undefined) {
    const groupDiscovery = groupDocument(table, group, remote());
    return groupDiscovery && ((request) => document(request, groupDiscovery));
  }
  if (!table.versions(group).includes(version)) return table.hasBuiltInGroup(group) ? notFound : undefined;
  const route: Route = (request) => document(request, resourceList(table, group, version));
  return table.inVersion(group, version).some(({ custom }) => custom) ? route : produced(OBJECT_TYPES, route);
}

/** Built-in groups handle all paths below them, doubled slashes included. */
function isBelowBuiltIn(path: string, table: ResourceTable): boolean {
  const group = /^\/apis\/([^/]+)\//.exec(path)?.[1];
  return group !== undefined && table.hasBuiltInGroup(group);
}

/** A path of upstream's router, which checks Accept against the types it produces. */
function produced(types: readonly string[], route: Route): Route {
  return (request) => {
    checkProducible(request.header('accept'), types);
    return route(request);
  };
}

const notFound: Route = () => {
  throw resourceNotFound();
};

/** `document` is answered in the media type the client prefers. */
function document(request: ApiRequest, object: { readonly [field: string]: unknown }): ApiResponse {
  negotiate(request.header('accept'), { transforms: false });
  return { type: 'plain', code: 200, object };
}

/** `object` as JSON, whatever the client prefers. */
function jsonDocument(request: ApiRequest, object: { readonly [field: string]: unknown }): ApiResponse {
  // In-process clients get the object itself.
  if (request.body.type === 'object') return { type: 'plain', code: 200, object };
  return { type: 'raw', code: 200, contentType: JSON_TYPE, body: JSON.stringify(object, null, 2) };
}

/** Aggregated discovery, if the client accepts it. */
function aggregated(request: ApiRequest, build: () => { readonly [field: string]: unknown }): ApiResponse | undefined {
  const mediaType = negotiateAggregated(request.header('accept'));
  if (mediaType === undefined) return undefined;
  if (request.body.type === 'object') return { type: 'plain', code: 200, object: build() };
  return etagResponse(
    request,
    aggregatedType(mediaType),
    encodeMedia(build(), { mediaType, pretty: false }, apidiscoveryV2.APIGroupDiscoveryList),
  );
}

function rootPaths({ table, health, remote }: NonResourceDeps): readonly string[] {
  const all = groupsInOrder(table, remote());
  const groups = all.map(({ group }) => group);
  const versions = all.flatMap(({ group, versions: own }) => own.map(({ version }) => `/apis/${group}/${version}`));
  const fixed = [
    '/.well-known/openid-configuration',
    '/api',
    '/api/v1',
    '/apis',
    '/apis/',
    '/metrics',
    '/metrics/slis',
    '/openapi/v2',
    '/openapi/v3',
    '/openapi/v3/',
    '/openid/v1/jwks',
    '/version',
  ];
  return [...fixed, ...groups.map((group) => `/apis/${group}`), ...versions, ...health.paths()].sort();
}
