import type { Kind } from '#api';
import { apiVersionOf, type DecodedObject, type JsonObject, type JsonValue, type ObjectSchema, type ResourceInfo } from '#machinery';
import type { KubeObject } from '../../watch-cache/kube-object.ts';
import type { ObjectVersion, RemoteConversion } from '../../watch-cache/object-version.ts';
import { RecurringSpecs } from './recurring-specs.ts';
import type { ResourceStorage } from './resource-storage.ts';
import type { ScaleFields } from './scale-fields.ts';
import type { ResourceStrategy } from './strategy.ts';

export type AnyStrategy = ResourceStrategy<KubeObject>;

/** A resource in one version: its names, storage, strategy and verbs. */
export interface ServedResource extends ResourceInfo, ObjectVersion {
  readonly schema: ObjectSchema;
  readonly strategy: AnyStrategy;
  /** Absent for resources that are handled without being stored (reviews). */
  readonly storage: ResourceStorage | undefined;
  readonly listKind: string;
  readonly verbs: readonly string[];
  /** Whether list items include kind and apiVersion (custom resources). */
  readonly itemsNameKind: boolean;
  readonly toStored?: (object: KubeObject) => KubeObject;
  /** The resource in the stored version, if it is another one. */
  readonly storedAs?: ServedResource;
  /** Claims cluster-unique values (service addresses, node ports) and sets them in the object. */
  readonly reserve?: (object: KubeObject, old: KubeObject | undefined, dryRun: boolean) => Promise<Reservation> | Reservation;
  /** Releases the values that a deleted object claimed. */
  readonly released?: (object: KubeObject) => Promise<void> | void;
  /** Decodes a document; by default by the schema. */
  readonly decode?: (value: JsonValue) => DecodedObject;
  readonly conversionError?: (object: JsonObject) => string | undefined;
  /** The CRD's schema, for OpenAPI. */
  readonly openAPIV3Schema?: JsonObject;
  /** For kinds whose objects often share one spec. */
  readonly recurringSpecs?: RecurringSpecs;
  /** Sent as a warning with every response. */
  readonly deprecation?: string;
  /** The release that no longer serves a deprecated version, if it is decided. */
  readonly removedRelease?: string;
  /** The storage version, where it is not that of `storedAs` or the resource's own. */
  readonly storedVersion?: string;
  /** Defined at run time by a CustomResourceDefinition. */
  readonly custom: boolean;
  /** Whether the definition is being deleted: no objects can be created. */
  readonly isTerminating?: () => boolean;
  readonly subresources: ReadonlyMap<string, ServedSubresource>;
  /** Gates that are on, of those that are off by default. */
  readonly features?: ReadonlySet<string>;
}

/** A resource whose objects are stored. */
export interface StoredResource extends ServedResource {
  readonly storage: ResourceStorage;
  readonly storedAs?: StoredResource;
}

export function isStored(resource: ServedResource): resource is StoredResource {
  return resource.storage !== undefined;
}

export interface Reservation {
  readonly object: KubeObject;
  /** The write failed: releases what was claimed for it. */
  release(): Promise<void> | void;
  /** The write succeeded: releases what the old object no longer uses. */
  commit(): Promise<void> | void;
}

export interface ServedSubresource {
  readonly name: string;
  /** Usually the resource's own kind. */
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly verbs: readonly string[];
  /** All HTTP methods, including HEAD. */
  readonly anyMethod?: boolean;
  /** Media types of the response, if they differ from those of objects. */
  readonly produces?: readonly string[];
  /** For the subresource `scale`. */
  readonly scale?: ScaleFields;
}

export const ALL_VERBS: readonly string[] = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

export interface ServedResourceOptions {
  readonly strategy: AnyStrategy;
  readonly storage: ResourceStorage | undefined;
  readonly subresources?: readonly ServedSubresource[];
  readonly fromStored?: (object: KubeObject) => KubeObject;
  readonly toStored?: (object: KubeObject) => KubeObject;
  readonly remote?: RemoteConversion;
  readonly storedAs?: ServedResource;
  readonly deprecation?: string;
  readonly storedVersion?: string;
  readonly reserve?: ServedResource['reserve'];
  readonly released?: ServedResource['released'];
  readonly features?: ServedResource['features'];
}

export function servedResource(kind: Kind<unknown>, options: ServedResourceOptions): ServedResource {
  const { strategy, storage, subresources = [], fromStored, toStored, remote, storedAs, reserve, released } = options;
  const { deprecation, storedVersion, features } = options;
  return {
    group: kind.group,
    version: kind.version,
    kind: kind.kind,
    resource: kind.resource,
    singular: kind.singular,
    namespaced: kind.namespaced,
    shortNames: kind.shortNames,
    categories: kind.categories,
    schema: kind,
    strategy,
    storage,
    listKind: `${kind.kind}List`,
    apiVersion: apiVersionOf(kind),
    verbs: strategy.verbs ?? ALL_VERBS,
    itemsNameKind: false,
    custom: false,
    subresources: new Map(subresources.map((sub) => [sub.name, sub])),
    ...(strategy.conversionError && { conversionError: (object) => strategy.conversionError?.(object as never) }),
    ...(strategy.specsRecur && { recurringSpecs: new RecurringSpecs() }),
    ...(features && { features }),
    ...(fromStored && { fromStored }),
    ...(toStored && { toStored }),
    ...(remote && { remote }),
    ...(storedAs && { storedAs }),
    ...(deprecation && { deprecation, ...(kind.lifecycle && { removedRelease: kind.lifecycle.removed }) }),
    ...(storedVersion && { storedVersion }),
    ...(reserve && { reserve }),
    ...(released && { released }),
  };
}
