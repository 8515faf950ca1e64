import { NO_RESOURCE, StatusError, serverResponseError } from '#machinery';
import type { AdmissionAttributes, AdmissionChain } from '../admission/admission.ts';
import { ANONYMOUS } from '../authn/user.ts';
import type { ResourceTable } from '../registry/resource-table.ts';
import type { ServedResource } from '../registry/served-resource.ts';
import { type ApiRequest, warn } from '../request/api-request.ts';
import type { ApiResponse, Handler } from '../request/api-response.ts';
import { COLLECTION_TYPES, checkProducible, negotiate, negotiateWatch, OBJECT_TYPES } from '../request/negotiation.ts';
import type { RequestInfo } from '../request/request-info.ts';
import { handleCreate } from './create.ts';
import { handleDelete } from './delete.ts';
import { handleDeleteCollection } from './delete-collection.ts';
import { handleGet } from './get.ts';
import { handleList } from './list.ts';
import { handlePatch } from './patch.ts';
import type { HandlerDeps, ResourceCall } from './resource-call.ts';
import { handleUpdate } from './update.ts';
import { handleWatch } from './watch.ts';

/** Whether a verb is for one object (which its path names) or for the collection. */
const NEEDS_NAME: Readonly<Record<string, boolean>> = { get: true, update: true, patch: true, delete: true, create: false };

type ResourceHandler = (call: ResourceCall) => Promise<ApiResponse> | ApiResponse;

const HANDLERS: Readonly<Record<string, ResourceHandler>> = {
  get: handleGet,
  list: handleList,
  watch: handleWatch,
  create: handleCreate,
  update: handleUpdate,
  patch: handlePatch,
  delete: handleDelete,
  deletecollection: handleDeleteCollection,
};

export function resourceNotFound(): StatusError {
  return serverResponseError({
    code: 404,
    verb: '',
    resource: NO_RESOURCE,
    name: '',
    serverMessage: '',
    retryAfterSeconds: 0,
    unexpected: false,
  });
}

export function methodNotAllowed(): StatusError {
  return serverResponseError({
    code: 405,
    verb: '',
    resource: NO_RESOURCE,
    name: '',
    serverMessage: '',
    retryAfterSeconds: 0,
    unexpected: false,
  });
}

export const PAGE_NOT_FOUND: ApiResponse = {
  type: 'raw',
  code: 404,
  contentType: 'text/plain; charset=utf-8',
  body: '404 page not found\n',
  headers: { 'x-content-type-options': 'nosniff' },
};

/** A path that leads nowhere, found out too late to answer so. */
class PageMissing extends Error {}

/** Answers requests for API resources. */
export function resourceRouter(table: ResourceTable, deps: HandlerDeps): Handler {
  return (request) => {
    const { info } = request;
    const resource = table.find(info.group, info.version, info.resource);
    if (resource === undefined) {
      if (!table.hasGroup(info.group) || !isKnownVersion(table, info)) return PAGE_NOT_FOUND;
      throw resourceNotFound();
    }
    try {
      return dispatch(request, resource, deps);
    } catch (error) {
      if (error instanceof PageMissing) return PAGE_NOT_FOUND;
      throw error;
    }
  };
}

/** Groups that exist only through definitions have no versions but theirs, and no words for others. */
function isKnownVersion(table: ResourceTable, { group, version }: RequestInfo): boolean {
  const versions = table.versions(group);
  return versions.includes(version) || versions.some((known) => table.inVersion(group, known).some(({ custom }) => !custom));
}

function dispatch(request: ApiRequest, resource: ServedResource, deps: HandlerDeps): Promise<ApiResponse> | ApiResponse {
  const { info, method } = request;
  // Nothing leads through that path any more, and the other one is only read.
  if (info.verb === 'proxy' && !resource.custom) throw resourceNotFound();
  if (info.legacyWatch && method !== 'GET') throw methodNotAllowed();
  checkScope(request, resource);
  // Upstream tells so of its own kinds only once it is clear that the path leads somewhere.
  if (resource.custom) warnOfDeprecation(request, resource);
  const call: ResourceCall = {
    request,
    resource,
    deps: resource.isTerminating?.() ? { ...deps, admission: withoutCreation(deps.admission) } : deps,
    subresource: info.subresource,
    namespace: resource.namespaced ? info.namespace : '',
    name: info.name,
    user: request.user ?? ANONYMOUS,
  };
  if (info.subresource !== '') return dispatchSubresource(call);
  if (resource.custom && info.name === '' && NEEDS_NAME[info.verb]) throw StatusError.badRequest('name must be provided');
  if (info.name !== '' && !resource.verbs.some((verb) => NEEDS_NAME[verb])) throw resourceNotFound();
  if (method === 'HEAD' || !resource.verbs.includes(info.verb) || NEEDS_NAME[info.verb] === (info.name === '')) throw methodNotAllowed();
  enter(call, info.verb === 'list' || info.verb === 'watch' ? COLLECTION_TYPES : OBJECT_TYPES);
  checkAcceptable(call);
  const own = resource.handlers?.[info.verb];
  return own === undefined ? HANDLERS[info.verb]!(call) : own(request, call);
}

/** Admission while the definition of a resource goes away. */
function withoutCreation(admission: AdmissionChain): AdmissionChain {
  const refuse = ({ operation, resource, name }: AdmissionAttributes) => {
    if (operation === 'CREATE')
      throw StatusError.forbidden(resource, name, 'create not allowed while custom resource definition is terminating');
  };
  return {
    admit: async (attributes) => {
      refuse(attributes);
      return admission.admit(attributes);
    },
    validate: async (attributes) => {
      refuse(attributes);
      return admission.validate(attributes);
    },
  };
}

/** The router lets through who wants what the path produces; from there on a built-in kind speaks for itself. */
function enter({ request, resource }: ResourceCall, produces: readonly string[]): void {
  if (resource.custom) return;
  checkProducible(request.header('accept'), produces);
  warnOfDeprecation(request, resource);
}

function warnOfDeprecation(request: ApiRequest, { deprecation }: ServedResource): void {
  if (deprecation !== undefined) warn(request, deprecation);
}

/** A client that could not read the answer is told so before anything is done for it. */
function checkAcceptable({ request, resource: { custom } }: ResourceCall): void {
  const accept = request.header('accept');
  if (request.info.verb === 'watch') negotiateWatch(accept, { custom });
  else negotiate(accept, { custom });
}

/** Paths that do not fit the resource's scope lead nowhere. */
function checkScope({ info, path }: ApiRequest, resource: ServedResource): void {
  // A namespace is in no namespace, though its own name is what its path gives for one.
  const inNamespace = info.namespace !== '' && (info.resource !== 'namespaces' || info.namespace !== info.name);
  if (!resource.namespaced && inNamespace) throw resource.custom ? new PageMissing() : resourceNotFound();
  if (resource.custom && resource.namespaced && !inNamespace && info.verb !== 'list' && info.verb !== 'watch') throw new PageMissing();
  if (resource.namespaced && !inNamespace && /\/[^/]+\/[^/]+$/.test(path) && info.name !== '' && path.endsWith(`/${info.name}`))
    throw resourceNotFound();
  if (resource.namespaced && !inNamespace && (info.verb === 'create' || info.verb === 'deletecollection')) throw methodNotAllowed();
  const isProxy = info.subresource === 'proxy';
  if (info.rest.length > 0 && !isProxy) throw resourceNotFound();
}

function dispatchSubresource(call: ResourceCall): Promise<ApiResponse> | ApiResponse {
  const { request, resource } = call;
  const { info } = request;
  const subresource = resource.subresources.get(info.subresource);
  if (subresource === undefined) throw resource.custom ? StatusError.notFound(resource, info.name) : resourceNotFound();
  const isAllowed = subresource.verbs.includes(info.verb) && request.method !== 'HEAD';
  if (!isAllowed) throw resource.custom ? StatusError.methodNotSupported(resource, info.verb) : methodNotAllowed();
  enter(call, subresource.produces ?? OBJECT_TYPES);
  if (subresource.handler !== undefined) return subresource.handler(request);
  if (subresource.callHandler !== undefined) return subresource.callHandler(call);
  checkAcceptable(call);
  return HANDLERS[info.verb]!(call);
}
