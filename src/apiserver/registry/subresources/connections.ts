import type { core } from '#api';
import { StatusError } from '#machinery';
import { attributesOf } from '../../filters/chain.ts';
import { admissionAttributes, groupResource, type ResourceCall } from '../../handlers/resource-call.ts';
import type { ApiResponse } from '../../request/api-response.ts';
import type { ServedSubresource } from '../served-resource.ts';
import { containerOf } from './pod-container.ts';

const STREAM_VERBS = ['create', 'get'];
const PROXY_VERBS = ['create', 'delete', 'get', 'patch', 'update'];

/** Opens the connection once the request for it is admitted. */
export type Connect = (call: ResourceCall) => Promise<ApiResponse>;

/** A way into a pod, a service or a node that is no request for an object. `optionsKind` names what the query says. */
function connection(name: string, optionsKind: string, connect: Connect): ServedSubresource {
  return {
    name,
    kind: { group: '', version: 'v1', kind: optionsKind },
    verbs: name === 'proxy' ? PROXY_VERBS : STREAM_VERBS,
    produces: ['*/*'],
    callHandler: (call) => admitted(call, optionsKind, connect),
  };
}

async function admitted(call: ResourceCall, kind: string, connect: Connect): Promise<ApiResponse> {
  if (call.resource.resource === 'pods' && call.subresource !== 'proxy') await authorizeEntry(call);
  const found = await call.resource.storage!.get(call.namespace, call.name);
  if (found === undefined) throw StatusError.notFound(groupResource(call), call.name);
  const attributes = admissionAttributes(call, {
    operation: 'CONNECT',
    object: { kind, apiVersion: 'v1', ...Object.fromEntries(call.request.query) },
    oldObject: undefined,
    dryRun: false,
    options: undefined,
  });
  await call.deps.admission.admit(attributes);
  await call.deps.admission.validate(attributes);
  if (call.resource.resource === 'pods') checkReachable(call, found.object as unknown as core.Pod);
  return connect(call);
}

/** Browsers can only GET what others POST for the same end: whoever enters a pod has to have the right to create a connection. */
async function authorizeEntry({ request, user, deps, resource, name }: ResourceCall): Promise<void> {
  const attributes = attributesOf(request, user);
  if (attributes.verb === 'create' || deps.authorizer === undefined) return;
  const { verdict, reason } = await deps.authorizer.authorize({ ...attributes, verb: 'create' });
  if (verdict !== 'allow') throw StatusError.forbidden(resource, name, reason);
}

/** There is no way into a pod that runs nowhere, nor to a container that it does not have. */
function checkReachable({ subresource, request }: ResourceCall, pod: core.Pod): void {
  if (subresource === 'proxy') {
    if (!pod.status?.podIP) throw StatusError.badRequest('address not allowed');
    return;
  }
  if (subresource !== 'portforward') containerOf(pod, request.query.get('container') ?? '');
  if (!pod.spec?.nodeName) throw StatusError.badRequest(`pod ${pod.metadata.name} does not have a host assigned`);
}

/** Everything that leads into pods, services and nodes, by `group/resource`. */
export function connectSubresources(connect: Connect): Readonly<Record<string, readonly ServedSubresource[]>> {
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

/** The answer of a server that has no way to open connections. */
export async function refuseConnection({ resource, subresource }: ResourceCall): Promise<ApiResponse> {
  const message = `${resource.resource}/${subresource} is not implemented by this server`;
  throw new StatusError({ code: 501, reason: '', message });
}
