import { authentication, autoscaling, core, policy } from '#api';
import { lookupTable } from '#base';
import type { ObjectSchema } from '#machinery';
import { CONNECT_OPTIONS } from '../streaming/connect-options.ts';
import { definitionName, type OpenApiResource, type OpenApiSubresource } from './openapi-resource.ts';
import type { Operation, Parameter, PathModel } from './operation.ts';
import { capitalized, operationId, tagOf } from './operation-id.ts';
import {
  CREATE_PARAMETERS,
  NAMESPACE,
  nameParameter,
  PATCH_PARAMETERS,
  PATH,
  PRETTY,
  queryParameters,
  UPDATE_PARAMETERS,
} from './parameters.ts';
import {
  ANY_TYPES,
  basePath,
  bodyTypes,
  CUSTOM_OBJECT_TYPES,
  CUSTOM_PATCH_TYPES,
  OBJECT_TYPES,
  PATCH_DEFINITION,
  PATCH_TYPES,
} from './path-parts.ts';

/** Types of subresources that differ from their resource's. */
const FOREIGN_TYPES: ReadonlyMap<string, ObjectSchema> = new Map<string, ObjectSchema>([
  ['Scale', autoscaling.Scale],
  ['Eviction', policy.Eviction],
  ['Binding', core.Binding],
  ['TokenRequest', authentication.TokenRequest],
]);

const METHODS = lookupTable<string>({ get: 'get', create: 'post', update: 'put', patch: 'patch', delete: 'delete' });
const PROXY_METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'];

/** The foreign types of a resource's subresources. */
export function foreignTypes(resource: OpenApiResource): readonly ObjectSchema[] {
  return [...resource.subresources.values()].flatMap(({ kind }) =>
    kind.kind === resource.kind ? [] : (FOREIGN_TYPES.get(kind.kind) ?? []),
  );
}

export function subresourcePaths(resource: OpenApiResource): readonly PathModel[] {
  return [...resource.subresources.values()].flatMap((sub) => {
    const options = CONNECT_OPTIONS.get(sub.kind.kind);
    return options ? connectPaths(resource, sub, options) : [objectPath(resource, sub)];
  });
}

function placeOf(resource: OpenApiResource, sub: OpenApiSubresource): { path: string; parameters: readonly Parameter[] } {
  const scope = resource.namespaced ? '/namespaces/{namespace}' : '';
  const path = `${basePath(resource)}${scope}/${resource.resource}/{name}/${sub.name}`;
  const name = nameParameter(sub.kind.kind);
  return { path, parameters: resource.namespaced ? [name, NAMESPACE] : [name] };
}

function connectPaths(resource: OpenApiResource, sub: OpenApiSubresource, options: ObjectSchema): readonly PathModel[] {
  const { path, parameters } = placeOf(resource, sub);
  const query = queryParameters(options);
  const isProxy = sub.name === 'proxy';
  const methods = isProxy ? PROXY_METHODS : sub.verbs.flatMap((verb) => METHODS[verb] ?? []);
  const build = (suffix: string): PathModel['operations'] =>
    Object.fromEntries(methods.map((method) => [method, connectOperation(resource, sub, method, suffix)]));
  const main = { path, parameters: [...parameters, ...query], operations: build('') };
  if (!isProxy) return [main];
  return [main, { path: `${path}/{path}`, parameters: [...parameters, PATH, ...query], operations: build('WithPath') }];
}

function connectOperation(resource: OpenApiResource, sub: OpenApiSubresource, method: string, suffix: string): Operation {
  return {
    id: operationId({ verb: 'connect', resource, infix: capitalized(method), suffix: capitalized(sub.name) + suffix }),
    description: `connect ${method.toUpperCase()} requests to ${sub.name} of ${resource.kind}`,
    tag: tagOf(resource),
    parameters: [],
    responses: [{ code: 200 }],
    produces: ANY_TYPES,
    consumes: ANY_TYPES,
    action: 'connect',
    kind: sub.kind,
  };
}

function objectPath(resource: OpenApiResource, sub: OpenApiSubresource): PathModel {
  const { path, parameters } = placeOf(resource, sub);
  const operations = sub.verbs.flatMap((verb) => {
    const method = METHODS[verb];
    return method === undefined ? [] : [[method, objectOperation(resource, sub, verb)] as const];
  });
  // Upstream publishes no parameters of type time.
  const query = sub.name === 'log' ? queryParameters(core.PodLogOptions).filter(({ name }) => name !== 'sinceTime') : [];
  return { path, parameters: [...parameters, ...query, PRETTY], operations: Object.fromEntries(operations) };
}

interface VerbParts {
  readonly idVerb: string;
  readonly action: string;
  readonly phrase: string;
  readonly parameters: readonly Parameter[];
  readonly codes: readonly number[];
}

const VERBS = lookupTable<VerbParts>({
  get: { idVerb: 'read', action: 'get', phrase: 'read', parameters: [], codes: [200] },
  create: { idVerb: 'create', action: 'post', phrase: 'create', parameters: CREATE_PARAMETERS, codes: [200, 201, 202] },
  update: { idVerb: 'replace', action: 'put', phrase: 'replace', parameters: UPDATE_PARAMETERS, codes: [200, 201] },
  patch: { idVerb: 'patch', action: 'patch', phrase: 'partially update', parameters: PATCH_PARAMETERS, codes: [200, 201] },
});

function objectOperation(resource: OpenApiResource, sub: OpenApiSubresource, verb: string): Operation {
  const { idVerb, action, phrase, parameters, codes } = VERBS[verb] as VerbParts;
  const isLog = sub.name === 'log';
  const type =
    sub.kind.kind === resource.kind ? definitionName(resource) : (FOREIGN_TYPES.get(sub.kind.kind)?.name ?? definitionName(resource));
  return {
    id: operationId({ verb: idVerb, resource, suffix: capitalized(sub.name) }),
    description: `${phrase} ${sub.name} of the specified ${resource.kind}`,
    tag: tagOf(resource),
    parameters,
    responses: (verb === 'patch' && resource.custom ? [200] : codes).map((code) => (isLog ? { code } : { code, type })),
    produces: isLog ? ['text/plain', ...OBJECT_TYPES] : resource.custom ? CUSTOM_OBJECT_TYPES : OBJECT_TYPES,
    consumes: bodyTypes(resource),
    action,
    kind: sub.kind,
    ...bodyOf(verb, type, resource),
  };
}

function bodyOf(verb: string, type: string, resource: OpenApiResource): Pick<Operation, 'body'> {
  if (verb === 'get') return {};
  if (verb === 'patch')
    return { body: { type: PATCH_DEFINITION, mediaTypes: resource.custom ? CUSTOM_PATCH_TYPES : PATCH_TYPES, required: true } };
  return { body: { type, mediaTypes: bodyTypes(resource), required: true } };
}
