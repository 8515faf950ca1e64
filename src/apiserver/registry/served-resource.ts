import type { Kind } from '#api';
import { apiVersionOf, type DecodedObject, type JsonObject, type JsonValue, type ObjectSchema, type ResourceInfo } from '#machinery';
import type { ResourceCall } from '../handlers/resource-call.ts';
import type { ApiRequest } from '../request/api-request.ts';
import type { ApiResponse, Handler } from '../request/api-response.ts';
import type { KubeObject } from './kube-object.ts';
import { RecurringSpecs } from './recurring-specs.ts';
import type { ResourceStorage } from './resource-storage.ts';
import type { ResourceStrategy } from './strategy.ts';

export type AnyStrategy = ResourceStrategy<KubeObject>;

/** One resource in one version, as the server serves it: what it is called, how it is kept, and what can be done with it. */
export interface ServedResource extends ResourceInfo {
  readonly schema: ObjectSchema;
  readonly strategy: AnyStrategy;
  /** Absent for resources that are only asked, never kept (reviews). */
  readonly storage: ResourceStorage | undefined;
  readonly listKind: string;
  readonly apiVersion: string;
  readonly verbs: readonly string[];
  /** Items of a list repeat their kind and apiVersion (custom resources). */
  readonly itemsNameKind: boolean;
  /** From the version in which an object is stored; absent when there is no other version. */
  readonly fromStored?: (object: KubeObject) => KubeObject;
  readonly toStored?: (object: KubeObject) => KubeObject;
  /** Instead of both, where other versions have to be asked for elsewhere. */
  readonly remote?: RemoteConversion;
  /** The resource in the version that is stored, when this is another one. */
  readonly storedAs?: ServedResource;
  /** Claims what must be unique in the cluster (service addresses, node ports) and puts it into the object. */
  readonly reserve?: (object: KubeObject, old: KubeObject | undefined, dryRun: boolean) => Promise<Reservation> | Reservation;
  /** Gives back what a deleted object had claimed. */
  readonly released?: (object: KubeObject) => Promise<void> | void;
  /** Reads a document as an object of this kind; by default by its schema. */
  readonly decode?: (value: JsonValue) => DecodedObject;
  readonly conversionError?: (object: JsonObject) => string | undefined;
  /** The schema as its definition has it, for OpenAPI. */
  readonly openAPIV3Schema?: JsonObject;
  /** Of kinds whose objects come by the thousand with the same spec. */
  readonly recurringSpecs?: RecurringSpecs;
  /** Sent as a warning with every answer. */
  readonly deprecation?: string;
  /** The version that is stored, of those that a definition has. */
  readonly storedVersion?: string;
  /** Defined at run time by a CustomResourceDefinition. */
  readonly custom: boolean;
  /** Whether its definition is being deleted: what there is goes, and nothing new comes. */
  readonly isTerminating?: () => boolean;
  readonly subresources: ReadonlyMap<string, ServedSubresource>;
  /** Verbs that are answered in a way of their own (reviews), instead of by the generic handlers. */
  readonly handlers?: Readonly<Record<string, OwnHandler>>;
}

/** Conversion by somebody else (a webhook), who may fail. */
export interface RemoteConversion {
  /** In the version that the resource serves, whichever they are in. */
  fromStored(objects: readonly KubeObject[]): Promise<readonly KubeObject[]>;
  toStored(object: KubeObject): Promise<KubeObject>;
}

/** Answers a verb of one resource; the call is the request once routed. */
export type OwnHandler = (request: ApiRequest, call: ResourceCall) => Promise<ApiResponse> | ApiResponse;

export interface Reservation {
  readonly object: KubeObject;
  /** The write did not happen: what was claimed for it is free again. */
  release(): Promise<void> | void;
  /** The write happened: what the old object no longer uses is free. */
  commit(): Promise<void> | void;
}

export interface ServedSubresource {
  readonly name: string;
  /** The kind it speaks: usually the resource's own. */
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly verbs: readonly string[];
  /** In what its answers can be had, where that is not as objects can. */
  readonly produces?: readonly string[];
  /** Absent: the object itself, through the generic handlers. */
  readonly handler?: Handler;
  /** Like `handler`, for those that work on the resource's objects. */
  readonly callHandler?: (call: ResourceCall) => Promise<ApiResponse>;
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
  readonly handlers?: Readonly<Record<string, OwnHandler>>;
  readonly reserve?: ServedResource['reserve'];
  readonly released?: ServedResource['released'];
}

export function servedResource(kind: Kind<unknown>, options: ServedResourceOptions): ServedResource {
  const {
    strategy,
    storage,
    subresources = [],
    fromStored,
    toStored,
    remote,
    storedAs,
    reserve,
    released,
    handlers,
    deprecation,
  } = options;
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
    ...(fromStored && { fromStored }),
    ...(toStored && { toStored }),
    ...(remote && { remote }),
    ...(storedAs && { storedAs }),
    ...(handlers && { handlers }),
    ...(deprecation && { deprecation }),
    ...(reserve && { reserve }),
    ...(released && { released }),
  };
}
