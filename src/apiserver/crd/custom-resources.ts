import { apiextensions } from '#api';
import { apiVersionOf, type DecodedObject, isJsonObject, type JsonObject, type JsonValue, parseGroupVersion } from '#machinery';
import type { KubeObject } from '../registry/kube-object.ts';
import { ResourceStorage, type StorageDeps } from '../registry/resource-storage.ts';
import {
  type AnyStrategy,
  type RemoteConversion,
  type ServedResource,
  type ServedSubresource,
  servedResource,
} from '../registry/served-resource.ts';
import type { customScale } from './custom-scale.ts';
import { type ConversionDeps, WebhookConversion } from './webhook-conversion.ts';

type Definition = apiextensions.CustomResourceDefinition;
type CustomType = apiextensions.CustomResourceType;

/** What a definition brings into being: one resource a served version, all kept in one place. */
export interface CustomResources {
  readonly storage: ResourceStorage;
  readonly served: readonly ServedResource[];
}

/** In the order in which upstream tells them. */
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

/** Fields that the schema no longer knows are gone, and its defaults are there, as if the object had been written under it. */
function revived(type: CustomType, object: KubeObject): KubeObject {
  const { object: pruned } = type.decode(object as unknown as JsonObject, { lenient: true });
  return (type.defaults?.(pruned) ?? pruned) as unknown as KubeObject;
}

export interface CustomDeps extends StorageDeps, ConversionDeps {
  readonly scale: typeof customScale;
  /** Whether the definition is being deleted, now. */
  readonly isTerminating: () => boolean;
}

interface Versioning {
  readonly definition: Definition;
  readonly version: apiextensions.CustomResourceDefinitionVersion;
  readonly storage: ResourceStorage;
  readonly storedName: string;
  readonly types: ReadonlyMap<string, CustomType>;
  readonly webhook: WebhookConversion | undefined;
  readonly deps: CustomDeps;
}

function versionOf({ definition, version, storage, storedName, types, webhook, deps }: Versioning): ServedResource {
  const type = types.get(version.name)!;
  const { spec } = definition;
  const resource = servedResource(type.kind, {
    strategy: strategyOf(type, version),
    storage,
    subresources: subresourcesOf(type, deps),
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

/** Objects keep the version in which they were written until they are written anew: so the stored version has others to convert too. */
function conversionOf({ type, stored, webhook }: Versions): Pick<ServedResource, 'toStored' | 'fromStored' | 'remote'> {
  if (webhook !== undefined) return { remote: remoteConversion(webhook, type, stored) };
  return { fromStored: (object) => renamed(type, object), ...(type !== stored && { toStored: (object) => renamed(stored, object) }) };
}

/** Without a webhook, versions differ in their name alone. */
function renamed(to: CustomType, object: KubeObject): KubeObject {
  const apiVersion = apiVersionOf(to.kind);
  return object.apiVersion === apiVersion ? object : fitted(to, { ...object, apiVersion });
}

/** What a version's schema does not know cannot be kept in it. */
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

/** A write to status changes nothing of metadata but who owns what. */
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

function subresourcesOf(type: CustomType, deps: Versioning['deps']): readonly ServedSubresource[] {
  const verbs = ['get', 'patch', 'update'];
  const status = type.hasStatus
    ? [{ name: 'status', kind: { group: type.kind.group, version: type.kind.version, kind: type.kind.kind }, verbs }]
    : [];
  return type.scale === undefined ? status : [...status, deps.scale(type)];
}

function decodeCustom(type: CustomType, value: JsonValue): DecodedObject {
  if (!isJsonObject(value)) return { object: {}, error: 'the document is not an object', problems: [] };
  const { object, error, unknownFields } = type.decode(value.metadata ? value : { ...value, metadata: {} });
  const problems = unknownFields.map((field) => `unknown field "${field}"`);
  return { object, ...(error !== undefined && { error }), problems };
}

function deprecationOf({ spec }: Definition, { name, deprecationWarning }: apiextensions.CustomResourceDefinitionVersion): string {
  return deprecationWarning ?? `${spec.group}/${name} ${spec.names.kind} is deprecated`;
}
