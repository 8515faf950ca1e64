import type { core } from '#api';
import { goQuote, StatusError } from '#machinery';
import { attributesOf } from '../authz/request-attributes.ts';
import type { ApiResponse } from '../handlers/api-response.ts';
import type { HandledSubresource } from '../handlers/handler-table.ts';
import { admissionAttributes, groupResource, type ResourceCall } from '../handlers/resource-call.ts';
import { containerOf } from '../handlers/subresources/pod-container.ts';
import { connectOptions } from './connect-options.ts';
import { parseProxiedName, proxiedPath } from './proxy-connections.ts';

const STREAM_VERBS = ['create', 'get'];
const PROXY_VERBS = ['create', 'delete', 'get', 'patch', 'update'];

/** Opens the connection of an admitted request. */
export type Connect = (call: ResourceCall) => Promise<ApiResponse>;

/** A way into a pod, a service or a node that is no request for an object. `optionsKind` names what the query says. */
function connection(name: string, optionsKind: string, connect: Connect): HandledSubresource {
  return {
    name,
    kind: { group: '', version: 'v1', kind: optionsKind },
    verbs: name === 'proxy' ? PROXY_VERBS : STREAM_VERBS,
    ...(name === 'proxy' && { anyMethod: true }),
    produces: ['*/*'],
    handler: (call) => admitted(call, optionsKind, connect),
  };
}

async function admitted(call: ResourceCall, kind: string, connect: Connect): Promise<ApiResponse> {
  if (call.resource.resource === 'pods' && call.subresource !== 'proxy') await authorizeEntry(call);
  const name = objectName(call);
  const cached = await call.resource.storage.get(call.namespace, name);
  if (cached === undefined) throw StatusError.notFound(groupResource(call), name);
  const attributes = admissionAttributes(call, {
    operation: 'CONNECT',
    object: connectOptions(kind, optionsQuery(call)),
    oldObject: undefined,
    dryRun: false,
    options: undefined,
  });
  await call.deps.admission.admit(attributes);
  await call.deps.admission.validate(attributes);
  if (call.resource.resource === 'pods') checkReachable(call, cached.object as unknown as core.Pod);
  return connect(call);
}

/** The options of a proxy have the path that follows in the URL. */
function optionsQuery(call: ResourceCall): URLSearchParams {
  if (call.subresource !== 'proxy') return call.request.query;
  return new URLSearchParams({ path: decodePath(proxiedPath(call).path) });
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    throw StatusError.badRequest(`invalid URL escape in ${goQuote(path)}`);
  }
}

/** Proxied names may have a scheme and a port with them. */
function objectName({ subresource, name, resource }: ResourceCall): string {
  if (subresource !== 'proxy') return name;
  const proxied = parseProxiedName(name);
  if (proxied === undefined) throw StatusError.badRequest(`invalid ${resource.resource.slice(0, -1)} request "${name}"`);
  return proxied.name;
}

/** Browsers GET what others POST: exec and similar also require `create`. */
async function authorizeEntry({ request, user, deps, resource, name }: ResourceCall): Promise<void> {
  const attributes = attributesOf(request, user);
  if (attributes.verb === 'create' || deps.authorizer === undefined) return;
  const { verdict, reason } = await deps.authorizer.authorize({ ...attributes, verb: 'create' });
  if (verdict !== 'allow') throw StatusError.forbidden(resource, name, reason);
}

/** Checks that the pod is scheduled and has the container. */
function checkReachable({ subresource, request }: ResourceCall, pod: core.Pod): void {
  if (subresource === 'proxy') {
    if (!pod.status?.podIP) throw StatusError.badRequest('address not allowed');
    return;
  }
  if (subresource !== 'portforward') containerOf(pod, request.query.get('container') ?? '');
  if (!pod.spec?.nodeName) throw StatusError.badRequest(`pod ${pod.metadata.name} does not have a host assigned`);
}

/** The connect subresources of pods, services and nodes, by `group/resource`. */
export function connectSubresources(connect: Connect): Readonly<Record<string, readonly HandledSubresource[]>> {
  return {
    '/pods': [
      connection('attach', 'PodAttachOptions', connect),
      connection('exec', 'PodExecOptions', connect),
      connection('portforward', 'PodPortForwardOptions', connect),
      connection('proxy', 'PodProxyOptions', connect),
    ],
    '/services': [connection('proxy', 'ServiceProxyOptions', connect)],
    '/nodes': [connection('proxy', 'NodeProxyOptions', connect)],
  };
}
