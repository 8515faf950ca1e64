import { core, listSchemaOf, meta, openapiEnum } from '#api';
import { mergeAll, pushAll, runSteps } from '#base';
import { type GroupVersionKind, type JsonObject, type ObjectSchema, type OpenApiVersion, openapiDefinitionSteps } from '#machinery';
import { customDefinitions } from './custom-definition.ts';
import { type DocumentPart, groupPart, nonResourceParts, versionPath } from './discovery-paths.ts';
import { definitionName, listDefinitionName, type OpenApiResource } from './openapi-resource.ts';
import { type PathModel, renderPath } from './operation.ts';
import { basePath, PATCH_DEFINITION } from './path-parts.ts';
import { resourcePaths } from './resource-paths.ts';
import { foreignTypes } from './subresource-paths.ts';

/** A v3 document: everything below one prefix. */
export interface DocumentPlan extends DocumentPart {
  readonly resources: readonly OpenApiResource[];
}

const SECURITY: JsonObject = { type: 'apiKey', description: 'Bearer token authentication', name: 'authorization', in: 'header' };
const PATCH: JsonObject = { description: 'A patch of any of the kinds that the media types name.', type: 'object' };

/** The v3 documents by key (`api/v1`, `apis/apps`), without content. */
export function planDocuments(resources: readonly OpenApiResource[]): ReadonlyMap<string, DocumentPlan> {
  const versions = new Map<string, OpenApiResource[]>();
  for (const resource of resources) {
    const key = basePath(resource).slice(1);
    versions.set(key, [...(versions.get(key) ?? []), resource]);
  }
  const groups = [...new Set(resources.map(({ group }) => group))].filter((group) => group !== '');
  const plain = [...nonResourceParts(), ...groups.map(groupPart)].map((part) => ({ ...part, resources: [] }));
  const served = [...versions].map(([key, members]) => ({ key, paths: [], types: [], resources: members }));
  return new Map([...plain, ...served].sort((a, b) => (a.key < b.key ? -1 : 1)).map((plan) => [plan.key, plan]));
}

export interface DocumentOptions {
  /** The server's version, such as `v1.36.0`. */
  readonly serverVersion: string;
  /** The built-in group versions, for DeleteOptions. */
  readonly groupVersions: readonly { readonly group: string; readonly version: string }[];
}

export function buildV3(plan: DocumentPlan, options: DocumentOptions): JsonObject {
  const schemas = runSteps(definitionSteps(3, [plan], options));
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: options.serverVersion },
    paths: runSteps(renderSteps(3, [plan])),
    components: { ...(Object.keys(schemas).length > 0 && { schemas }), securitySchemes: { BearerToken: SECURITY } },
  };
}

/** In steps: it holds everything that is served. */
export function* buildV2(plans: readonly DocumentPlan[], options: DocumentOptions): Generator<void, JsonObject> {
  return {
    swagger: '2.0',
    info: { title: 'Kubernetes', version: options.serverVersion },
    paths: yield* renderSteps(2, plans),
    definitions: yield* definitionSteps(2, plans, options),
    securityDefinitions: { BearerToken: SECURITY },
    security: [{ BearerToken: [] }],
  };
}

function pathsOf({ paths, resources }: DocumentPlan): readonly PathModel[] {
  const first = resources[0];
  const own = first ? [versionPath(first, basePath(first))] : [];
  return [...paths, ...own, ...resources.flatMap(resourcePaths)];
}

function* renderSteps(version: OpenApiVersion, plans: readonly DocumentPlan[]): Generator<void, JsonObject> {
  const paths: PathModel[] = [];
  for (const plan of plans) {
    pushAll(paths, pathsOf(plan));
    yield;
  }
  const rendered: [string, JsonObject][] = [];
  for (const path of paths.sort((a, b) => (a.path < b.path ? -1 : 1))) {
    rendered.push([path.path, renderPath(version, path)]);
    yield;
  }
  return Object.fromEntries(rendered);
}

function* definitionSteps(version: OpenApiVersion, plans: readonly DocumentPlan[], options: DocumentOptions): Generator<void, JsonObject> {
  const resources = plans.flatMap((plan) => plan.resources);
  const builtIn = resources.filter(({ custom }) => !custom);
  const roots = [...plans.flatMap(({ types }) => types), ...builtIn.flatMap(rootsOf), ...commonTypes(resources)];
  return {
    ...(yield* openapiDefinitionSteps(roots, {
      version,
      enumOf: openapiEnum,
      kinds: kindsOf(builtIn, version === 2 ? options.groupVersions : ownGroupVersions(resources)),
    })),
    ...mergeAll(resources.filter(({ custom }) => custom).map((resource) => customDefinitions(version, resource))),
    ...(resources.some(({ verbs }) => verbs.includes('patch')) && { [PATCH_DEFINITION]: PATCH }),
  };
}

/** Types that requests with certain verbs refer to. */
const TYPES_BY_VERB: readonly (readonly [verb: string, type: ObjectSchema])[] = [
  ['delete', meta.DeleteOptions],
  ['delete', meta.Status],
  ['watch', meta.WatchEvent],
];

function commonTypes(resources: readonly OpenApiResource[]): readonly ObjectSchema[] {
  if (resources.length === 0) return [];
  const ofVerbs = TYPES_BY_VERB.filter(([verb]) => resources.some(({ verbs }) => verbs.includes(verb))).map(([, type]) => type);
  return [...ofVerbs, meta.APIResourceList, meta.ObjectMeta];
}

function rootsOf(resource: OpenApiResource): readonly ObjectSchema[] {
  const list = resource.verbs.includes('list') ? [listSchemaOf(resource.schema)] : [];
  return [resource.schema, ...list, ...foreignTypes(resource)];
}

/** A group version's document lists only itself and core. */
function ownGroupVersions(resources: readonly OpenApiResource[]): DocumentOptions['groupVersions'] {
  const core = { group: '', version: 'v1' };
  const [first] = resources;
  return first === undefined || first.group === '' ? [core] : [core, { group: first.group, version: first.version }];
}

function kindsOf(
  resources: readonly OpenApiResource[],
  groupVersions: DocumentOptions['groupVersions'],
): ReadonlyMap<string, readonly GroupVersionKind[]> {
  // Types that other groups embed are published as kinds there too.
  const kinds = new Map<string, readonly GroupVersionKind[]>([[core.PersistentVolumeClaim.name, [kindOf(core.PersistentVolumeClaim)]]]);
  for (const resource of resources) {
    const { group, version, kind, listKind, subresources } = resource;
    kinds.set(definitionName(resource), [{ group, version, kind }]);
    kinds.set(listDefinitionName(resource), [{ group, version, kind: listKind }]);
    for (const schema of foreignTypes(resource)) {
      const spoken = [...subresources.values()].find((sub) => schema.name.endsWith(`.${sub.kind.kind}`))?.kind;
      if (spoken) kinds.set(schema.name, [spoken]);
    }
  }
  kinds.set(meta.Status.name, [{ group: '', version: 'v1', kind: 'Status' }]);
  for (const { name } of [meta.DeleteOptions, meta.WatchEvent])
    kinds.set(
      name,
      groupVersions.map((at) => ({ ...at, kind: name.slice(name.lastIndexOf('.') + 1) })),
    );
  for (const { name } of [meta.APIGroup, meta.APIGroupList, meta.APIResourceList, meta.APIVersions]) {
    kinds.set(name, [{ group: '', version: 'v1', kind: name.slice(name.lastIndexOf('.') + 1) }]);
  }
  return kinds;
}

function kindOf({ group, version, kind }: GroupVersionKind): GroupVersionKind {
  return { group, version, kind };
}
