import { lookupTable } from '#base';
import { NO_RESOURCE, StatusError, serverResponseError } from '#machinery';
import type { AdmissionAttributes, AdmissionChain } from '../admission/admission.ts';
import type { ResourceTable } from '../registry/generic/resource-table.ts';
import { isStored, type ServedResource } from '../registry/generic/served-resource.ts';
import { type ApiRequest, warn } from '../request/api-request.ts';
import { COLLECTION_TYPES, checkProducible, negotiate, negotiateWatch, OBJECT_TYPES } from '../request/negotiation.ts';
import { ANONYMOUS } from '../request/user.ts';
import type { ApiResponse, Handler } from './api-response.ts';
import { handleCreate } from './create.ts';
import { handleDelete } from './delete.ts';
import { handleDeleteCollection } from './delete-collection.ts';
import { handleGet } from './get.ts';
import type { HandlerTable } from './handler-table.ts';
import { handleList } from './list.ts';
import { handlePatch } from './patch.ts';
import { checkPathName, type HandlerDeps, type ResourceCall } from './resource-call.ts';
import { handleScale } from './subresources/scale.ts';
import { handleUpdate } from './update.ts';
import { handleWatch } from './watch.ts';

/** Whether a verb is for one object (which its path names) or for the collection. */
const NEEDS_NAME = lookupTable<boolean>({ get: true, update: true, patch: true, delete: true, create: false });

type ResourceHandler = (call: ResourceCall) => Promise<ApiResponse> | ApiResponse;

const HANDLERS = lookupTable<ResourceHandler>({
  get: handleGet,
  list: handleList,
  watch: handleWatch,
  create: handleCreate,
  update: handleUpdate,
  patch: handlePatch,
  delete: handleDelete,
  deletecollection: handleDeleteCollection,
});

export function resourceNotFound(): StatusError {
  return serverResponseError({ ...EMPTY_RESPONSE, code: 404 });
}

export function methodNotAllowed(): StatusError {
  return serverResponseError({ ...EMPTY_RESPONSE, code: 405 });
}

const EMPTY_RESPONSE = { verb: '', resource: NO_RESOURCE, name: '', serverMessage: '', retryAfterSeconds: 0, unexpected: false };

export const PAGE_NOT_FOUND: ApiResponse = {
  type: 'raw',
  code: 404,
  contentType: 'text/plain; charset=utf-8',
  body: '404 page not found\n',
  headers: { 'x-content-type-options': 'nosniff' },
};

/** 404 for a path that turns out to be unknown after routing. */
class PageNotFoundError extends Error {}

/** Answers requests for API resources. */
export function resourceRouter(table: ResourceTable, deps: HandlerDeps, handlers: HandlerTable): Handler {
  return (request) => {
    const { info } = request;
    const resource = table.find(info.group, info.version, info.resource);
    if (resource === undefined) {
      if (!table.hasBuiltInGroup(info.group)) return PAGE_NOT_FOUND;
      throw resourceNotFound();
    }
    try {
      return dispatch(request, resource, { deps, handlers });
    } catch (error) {
      if (error instanceof PageNotFoundError) return PAGE_NOT_FOUND;
      throw error;
    }
  };
}

interface RouterParts {
  readonly deps: HandlerDeps;
  readonly handlers: HandlerTable;
}

function dispatch(request: ApiRequest, resource: ServedResource, { deps, handlers }: RouterParts): Promise<ApiResponse> | ApiResponse {
  const { info, method } = request;
  // /proxy/ was removed; /watch/ is GET-only.
  if (info.verb === 'proxy' && !resource.custom) throw resourceNotFound();
  if (info.legacyWatch && method !== 'GET') throw methodNotAllowed();
  checkScope(request, resource);
  // Upstream warns of deprecated built-in kinds only after the path is resolved.
  if (resource.custom) warnOfDeprecation(request, resource);
  const call: ResourceCall<ServedResource> = {
    request,
    resource,
    deps: resource.isTerminating?.() ? { ...deps, admission: withoutCreation(deps.admission) } : deps,
    subresource: info.subresource,
    namespace: resource.namespaced ? info.namespace : '',
    name: isCustomCreation(info, resource) ? '' : info.name,
    user: request.user ?? ANONYMOUS,
  };
  if (info.subresource !== '') return dispatchSubresource(call, handlers);
  if (resource.custom && info.name === '' && NEEDS_NAME[info.verb]) throw StatusError.badRequest('name must be provided');
  if (info.name !== '' && !resource.verbs.some((verb) => NEEDS_NAME[verb])) throw resourceNotFound();
  if (!isSupported(request, resource)) throw unsupportedMethod(request, resource);
  enter(call, info.verb === 'list' || info.verb === 'watch' ? COLLECTION_TYPES : OBJECT_TYPES);
  checkAcceptable(call);
  const own = handlers.verb(resource, info.verb);
  return own === undefined ? HANDLERS[info.verb]!(storedCall(call)) : own(call);
}

function isSupported({ info, method }: ApiRequest, resource: ServedResource): boolean {
  if (method === 'HEAD' && !answersHead(resource, info.verb)) return false;
  return resource.verbs.includes(info.verb) && (NEEDS_NAME[info.verb] !== (info.name === '') || isCustomCreation(info, resource));
}

/** As upstream: the name in a custom resource's path is ignored, the one in the body counts. */
function isCustomCreation({ verb }: ApiRequest['info'], { custom }: ServedResource): boolean {
  return custom && verb === 'create';
}

/** As upstream: HEAD is a GET for custom resources and 405 for built-in ones. */
function answersHead({ custom }: ServedResource, verb: string): boolean {
  return custom && verb !== 'watch';
}

function unsupportedMethod({ info }: ApiRequest, resource: ServedResource): StatusError {
  return resource.custom ? StatusError.methodNotSupported(resource, info.verb) : methodNotAllowed();
}

function storedCall(call: ResourceCall<ServedResource>): ResourceCall {
  const { resource } = call;
  if (!isStored(resource)) throw new Error(`${resource.resource} have no handler for ${call.request.info.verb}`);
  // A PUT reports a different name in its body first.
  if (call.request.info.verb !== 'update') checkPathName(call.name);
  return { ...call, resource };
}

/** Admission while the definition is being deleted. */
function withoutCreation(admission: AdmissionChain): AdmissionChain {
  const forbidCreation = ({ operation, resource, name }: AdmissionAttributes) => {
    if (operation === 'CREATE')
      throw StatusError.forbidden(resource, name, 'create not allowed while custom resource definition is terminating');
  };
  return {
    admit: async (attributes) => {
      forbidCreation(attributes);
      return admission.admit(attributes);
    },
    validate: async (attributes) => {
      forbidCreation(attributes);
      return admission.validate(attributes);
    },
  };
}

/** The router checks Accept against the path's types; built-in kinds then negotiate on their own. */
function enter({ request, resource }: ResourceCall<ServedResource>, produces: readonly string[]): void {
  if (resource.custom) return;
  checkProducible(request.header('accept'), produces);
  warnOfDeprecation(request, resource);
}

function warnOfDeprecation(request: ApiRequest, { deprecation }: ServedResource): void {
  if (deprecation !== undefined) warn(request, deprecation);
}

/** 406 before any work is done. */
function checkAcceptable({ request, resource: { custom, verbs } }: ResourceCall<ServedResource>): void {
  const accept = request.header('accept');
  const tables = verbs.includes('list');
  if (request.info.verb === 'watch') negotiateWatch(accept, { custom });
  else negotiate(accept, { custom, tables });
}

/** 404 for paths that do not fit the resource's scope. */
function checkScope({ info, path }: ApiRequest, resource: ServedResource): void {
  // A namespace is cluster-scoped though its path carries a namespace name.
  const inNamespace = info.namespace !== '' && (info.resource !== 'namespaces' || info.namespace !== info.name);
  if (!resource.namespaced && inNamespace) throw resource.custom ? new PageNotFoundError() : resourceNotFound();
  if (resource.custom && resource.namespaced && !inNamespace && info.verb !== 'list' && info.verb !== 'watch')
    throw new PageNotFoundError();
  if (resource.namespaced && !inNamespace && /\/[^/]+\/[^/]+$/.test(path) && info.name !== '' && path.endsWith(`/${info.name}`))
    throw resourceNotFound();
  if (resource.namespaced && !inNamespace && (info.verb === 'create' || info.verb === 'deletecollection')) throw methodNotAllowed();
  const isProxy = info.subresource === 'proxy';
  // Upstream's handler of custom resources ignores the path after the subresource.
  if (info.rest.length > 0 && !isProxy && !resource.custom) throw resourceNotFound();
}

function dispatchSubresource(call: ResourceCall<ServedResource>, handlers: HandlerTable): Promise<ApiResponse> | ApiResponse {
  const { request, resource } = call;
  const { info } = request;
  const subresource = resource.subresources.get(info.subresource);
  if (subresource === undefined) throw resource.custom ? StatusError.notFound(resource, info.name) : resourceNotFound();
  const isAllowed = subresource.anyMethod || (subresource.verbs.includes(info.verb) && (request.method !== 'HEAD' || resource.custom));
  if (!isAllowed) throw resource.custom ? StatusError.methodNotSupported(resource, info.verb) : methodNotAllowed();
  enter(call, subresource.produces ?? OBJECT_TYPES);
  if (subresource.scale !== undefined) return handleScale(storedCall(call), subresource.scale);
  const own = handlers.subresource(resource, subresource.name);
  if (own !== undefined) return own(storedCall(call));
  checkAcceptable(call);
  return HANDLERS[info.verb]!(storedCall(call));
}
