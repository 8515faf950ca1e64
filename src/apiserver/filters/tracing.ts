import { type Attributes, parseTraceparent, SPAN_KIND, type Tracer } from '#base';
import type { ApiRequest } from '../request/api-request.ts';
import type { Filter } from './chain.ts';

/** Callers whose traces are continued. Traces of others are only linked, since anyone could request sampling. */
const TRUSTED_GROUPS: ReadonlySet<string> = new Set(['system:masters', 'system:monitoring']);

/** A span of the whole request, until its response is sent. Unsampled requests only cost the lookup of a header. */
export function traceRequests(tracer: Tracer): Filter {
  return (request, next) => {
    const context = parseTraceparent(request.header('traceparent'));
    const isTrusted = request.user?.groups.some((group) => TRUSTED_GROUPS.has(group)) ?? false;
    const origin = isTrusted ? { parent: context } : context && { links: [context] };
    const span = tracer.start(spanName(request), { ...origin, kind: SPAN_KIND.server });
    if (span === undefined) return next(request);
    request.span = span.set(requestAttributes(request));
    request.onFinished((code) => {
      span.set({ 'http.response.status_code': code });
      if (code >= 500) span.fail('');
      span.end();
    });
    return next(request);
  };
}

/** As upstream: the path with placeholders, so that requests of a kind have one name. */
function spanName({ method, info }: ApiRequest): string {
  if (!info.isResource) return method;
  const { group, version, namespace, resource, name, subresource } = info;
  const parts = [
    group === '' ? 'api' : `apis/${group}`,
    version,
    namespace && 'namespaces/{:namespace}',
    resource,
    name && '{:name}',
    subresource,
  ];
  return `${method} /${parts.filter(Boolean).join('/')}`;
}

function requestAttributes(request: ApiRequest): Attributes {
  return {
    'http.request.method': request.method,
    'url.scheme': 'https',
    'url.path': request.path,
    'http.target': targetOf(request),
    'client.address': request.remoteAddress,
    'user_agent.original': request.header('user-agent') ?? '',
    'audit-id': request.audit?.id ?? '',
  };
}

function targetOf({ url, path, query }: ApiRequest): string {
  return url ?? (query.size > 0 ? `${path}?${query}` : path);
}

const VERB_NAMES: ReadonlyMap<string, string> = new Map([
  ['get', 'Get'],
  ['list', 'List'],
  ['create', 'Create'],
  ['update', 'Update'],
  ['patch', 'Patch'],
  ['delete', 'Delete'],
  ['deletecollection', 'Delete'],
]);

/** A span of the handler within that of the request. */
export function traceHandlers(tracer: Tracer): Filter {
  return (request, next) => {
    const { span: parent, info } = request;
    const name = parent && info.isResource ? VERB_NAMES.get(info.verb) : undefined;
    const span = name === undefined ? undefined : tracer.start(name, { parent: parent!.context });
    return tracer.within(span?.set(handlerAttributes(request)), () => next(request));
  };
}

function handlerAttributes(request: ApiRequest): Attributes {
  const { info } = request;
  return {
    'audit-id': request.audit?.id ?? '',
    method: request.method,
    url: request.path,
    resource: info.resource,
    scope: info.name !== '' ? 'resource' : info.namespace !== '' ? 'namespace' : 'cluster',
    client: request.remoteAddress,
    accept: request.header('accept') ?? '',
    'user-agent': request.header('user-agent') ?? '',
  };
}
