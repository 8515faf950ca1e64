import { apiextensions } from '#api';
import { apiVersionOf, type DecodedObject, isJsonObject, type JsonObject, type JsonValue, parseGroupVersion } from '#machinery';
import { scaleSubresource } from '../registry/generic/catalog.ts';
import { ResourceStorage, type StorageDeps } from '../registry/generic/resource-storage.ts';
import { byVersionPriority } from '../registry/generic/resource-table.ts';
import { type AnyStrategy, type ServedResource, type ServedSubresource, servedResource } from '../registry/generic/served-resource.ts';
import type { KubeObject } from '../watch-cache/kube-object.ts';
import type { RemoteConversion } from '../watch-cache/object-version.ts';
import { customScale } from './custom-scale.ts';
import { type ConversionDeps, WebhookConversion } from './webhook-conversion.ts';

type Definition = apiextensions.CustomResourceDefinition;
type CustomType = apiextensions.CustomResourceType;

/** The resources of a definition: one for each served version, in one storage. */
export interface CustomResources {
  readonly storage: ResourceStorage;
  readonly served: readonly ServedResource[];
}

/** In upstream's order. */
const VERBS = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];
const MAIN_RESET = [['status']];
const STATUS_RESET = [['metadata'], ['spec']];

export function customResourcesOf(definition: Definition, deps: CustomDeps): CustomResources {
  const { spec } = definition;
  const storedName = (spec.versions ?? []).find(({ storage }) => storage)!.name;
  const types = new Map((spec.versions ?? []).map(({ name }) => [name, apiextensions.customResourceType(definition, name)]));
  const storedType = types.get(storedName)!;
  const webhook = spec.conversion?.strategy === 'Webhook' ? new WebhookConversion(definition, deps) : undefined;
  const storage = new ResourceStorage(
    {
      location: `${spec.group}/${spec.names.plural}`,
      group: spec.group,
      resource: spec.names.plural,
      kind: spec.names.kind,
      apiVersion: apiVersionOf({ group: spec.group, version: storedName }),
      namespaced: spec.scope === 'Namespaced',
      revive: (object) => revived(types.get(versionNameOf(object)) ?? storedType, object),
    },
    deps,
  );
  const served = (spec.versions ?? [])
    .filter((version) => version.served)
    .map((version) => versionOf({ definition, version, storage, storedName, types, webhook, deps }));
  return { storage, served };
}

function versionNameOf({ apiVersion = '' }: { readonly apiVersion?: unknown }): string {
  return parseGroupVersion(String(apiVersion)).version;
}

/** Prunes fields that the schema no longer has and sets its defaults, as for a new write. */
function revived(type: CustomType, object: KubeObject): KubeObject {
  const { object: pruned } = type.decode(object as unknown as JsonObject, { lenient: true });
  return (type.defaults?.(pruned) ?? pruned) as unknown as KubeObject;
}

export interface CustomDeps extends StorageDeps, ConversionDeps {
  /** Whether the definition is terminating. */
  readonly isTerminating: () => boolean;
}

interface VersionParts {
  readonly definition: Definition;
  readonly version: apiextensions.CustomResourceDefinitionVersion;
  readonly storage: ResourceStorage;
  readonly storedName: string;
  readonly types: ReadonlyMap<string, CustomType>;
  readonly webhook: WebhookConversion | undefined;
  readonly deps: CustomDeps;
}

function versionOf({ definition, version, storage, storedName, types, webhook, deps }: VersionParts): ServedResource {
  const type = types.get(version.name)!;
  const { spec } = definition;
  const resource = servedResource(type.kind, {
    strategy: strategyOf(type, version),
    storage,
    subresources: subresourcesOf(type),
    ...(version.deprecated && { deprecation: deprecationOf(definition, version) }),
    ...(types.size > 1 && conversionOf({ type, stored: types.get(storedName)!, webhook })),
  });
  return {
    ...resource,
    storedVersion: storedName,
    listKind: spec.names.listKind || `${spec.names.kind}List`,
    itemsNameKind: true,
    custom: true,
    isTerminating: deps.isTerminating,
    decode: (value) => decodeCustom(type, value),
    ...(version.schema?.openAPIV3Schema && { openAPIV3Schema: version.schema.openAPIV3Schema as unknown as JsonObject }),
  };
}

interface Versions {
  readonly type: CustomType;
  readonly stored: CustomType;
  readonly webhook: WebhookConversion | undefined;
}

/** Objects keep the version in which they were written until the next write, so the storage version needs conversion too. */
function conversionOf({ type, stored, webhook }: Versions): Pick<ServedResource, 'toStored' | 'fromStored' | 'remote'> {
  if (webhook !== undefined) return { remote: remoteConversion(webhook, type, stored) };
  return { fromStored: (object) => renamed(type, object), ...(type !== stored && { toStored: (object) => renamed(stored, object) }) };
}

/** Without a webhook, versions differ only in apiVersion. */
function renamed(to: CustomType, object: KubeObject): KubeObject {
  const apiVersion = apiVersionOf(to.kind);
  return object.apiVersion === apiVersion ? object : fitted(to, { ...object, apiVersion });
}

/** Drops fields that the version's schema does not have. */
function fitted(type: CustomType, object: KubeObject): KubeObject {
  return type.decode(object as unknown as JsonObject, { lenient: true }).object as unknown as KubeObject;
}

function remoteConversion(webhook: WebhookConversion, type: CustomType, stored: CustomType): RemoteConversion {
  const inVersion = async (to: CustomType, objects: readonly KubeObject[]) => {
    const converted = await webhook.convert(objects, apiVersionOf(to.kind));
    return converted.map((object) => fitted(to, object));
  };
  return {
    fromStored: (objects) => inVersion(type, objects),
    toStored: async (object) => (await inVersion(stored, [object]))[0]!,
  };
}

function strategyOf(type: CustomType, _version: apiextensions.CustomResourceDefinitionVersion): AnyStrategy {
  const { decode: _decode, scale: _scale, hasStatus, ...behaviour } = type;
  return {
    ...(behaviour as unknown as AnyStrategy),
    verbs: VERBS,
    tracksGeneration: true,
    allowUnconditionalUpdate: false,
    ...(hasStatus && {
      prepareForCreate: withoutStatus,
      prepareForUpdate: (object, old) => withStatusOf(object, old),
      prepareForStatusUpdate: (object, old) => ({ ...object, metadata: { ...old.metadata, ...ownership(object) } }),
      resetFields: { '': MAIN_RESET, status: STATUS_RESET },
    }),
    fieldLabelError: (field) => `field label not supported: ${field}`,
  };
}

/** Status updates change nothing in metadata but managedFields. */
function ownership({ metadata }: KubeObject): Pick<KubeObject['metadata'], 'managedFields'> {
  return metadata.managedFields === undefined ? {} : { managedFields: metadata.managedFields };
}

function withoutStatus(object: KubeObject): KubeObject {
  const { status: _, ...rest } = object;
  return rest as KubeObject;
}

function withStatusOf(object: KubeObject, old: KubeObject): KubeObject {
  return old.status === undefined ? withoutStatus(object) : { ...object, status: old.status };
}

function subresourcesOf(type: CustomType): readonly ServedSubresource[] {
  const verbs = ['get', 'patch', 'update'];
  const status = type.hasStatus
    ? [{ name: 'status', kind: { group: type.kind.group, version: type.kind.version, kind: type.kind.kind }, verbs }]
    : [];
  return type.scale === undefined ? status : [...status, scaleSubresource(customScale(type))];
}

function decodeCustom(type: CustomType, value: JsonValue): DecodedObject {
  if (!isJsonObject(value)) return { object: {}, error: 'the document is not an object', problems: [] };
  const { object, error, unknownFields } = type.decode(value.metadata ? value : { ...value, metadata: {} });
  const problems = unknownFields.map((field) => `unknown field "${field}"`);
  return { object, ...(error !== undefined && { error }), problems };
}

function deprecationOf({ spec }: Definition, { name, deprecationWarning }: apiextensions.CustomResourceDefinitionVersion): string {
  if (deprecationWarning !== undefined) return deprecationWarning;
  const { group, names, versions = [] } = spec;
  const newer = versions.find((other) => other.served && !other.deprecated && byVersionPriority(other.name, name) < 0);
  const hint = newer === undefined ? '' : `; use ${group}/${newer.name} ${names.kind}`;
  return `${group}/${name} ${names.kind} is deprecated${hint}`;
}
