import { KINDS, type Kind } from '#api';
import { apiVersionOf } from '#machinery';
import { type CachedObjects, inheritedState } from './cached-objects.ts';
import type { KubeObject } from './kube-object.ts';
import { ResourceStorage, type StorageDeps } from './resource-storage.ts';
import type { ResourceTable } from './resource-table.ts';
import { type AnyStrategy, type ServedResource, type ServedSubresource, servedResource } from './served-resource.ts';

/** Where upstream keeps a resource, when it is not under its own name: data written by one must be found by the other. */
const LOCATIONS: Readonly<Record<string, string>> = {
  '/nodes': 'minions',
  '/services': 'services/specs',
  '/endpoints': 'services/endpoints',
  '/replicationcontrollers': 'controllers',
  'networking.k8s.io/ingresses': 'ingress',
  'apiextensions.k8s.io/customresourcedefinitions': 'apiextensions.k8s.io/customresourcedefinitions',
  'apiregistration.k8s.io/apiservices': 'apiregistration.k8s.io/apiservices',
};

/** Deleting one of these answers with the object itself. */
const RETURNS_DELETED: ReadonlySet<string> = new Set([
  '/namespaces',
  '/persistentvolumes',
  '/persistentvolumeclaims',
  '/pods',
  '/podtemplates',
  '/resourcequotas',
  '/services',
  '/serviceaccounts',
  'resource.k8s.io/deviceclasses',
  'resource.k8s.io/resourceclaims',
  'resource.k8s.io/resourceclaimtemplates',
  'resource.k8s.io/resourceslices',
  'storage.k8s.io/csidrivers',
  'storage.k8s.io/csinodes',
  'storage.k8s.io/storageclasses',
  'storage.k8s.io/volumeattachments',
  'storage.k8s.io/volumeattributesclasses',
]);

/** Kinds of which the server keeps nothing: they are questions. What can be done with them. */
const UNSTORED: Readonly<Record<string, readonly string[]>> = {
  '/bindings': ['create'],
  '/componentstatuses': ['get', 'list'],
  'authentication.k8s.io/selfsubjectreviews': ['create'],
  'authentication.k8s.io/tokenreviews': ['create'],
  'authorization.k8s.io/localsubjectaccessreviews': ['create'],
  'authorization.k8s.io/selfsubjectaccessreviews': ['create'],
  'authorization.k8s.io/selfsubjectrulesreviews': ['create'],
  'authorization.k8s.io/subjectaccessreviews': ['create'],
};

const DEPRECATIONS: Readonly<Record<string, string>> = {
  '/endpoints': 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
  '/componentstatuses': 'v1 ComponentStatus is deprecated in v1.19+',
};

/** A kind that is served in more than one version, or group, is stored in one. */
export interface Conversion {
  /** `group/version/kind` of the version that is not stored. */
  readonly from: string;
  readonly to: string;
  readonly toStored: (object: KubeObject) => KubeObject;
  readonly fromStored: (object: KubeObject) => KubeObject;
  /** Each version has rules of its own, which apply to objects as requested. */
  readonly hasOwnRules?: boolean;
}

export interface CatalogOptions {
  readonly strategies: readonly AnyStrategy[];
  readonly conversions: readonly Conversion[];
  /** Subresources with handlers of their own, by `group/resource`. */
  readonly subresources: Readonly<Record<string, readonly ServedSubresource[]>>;
  /** What some resources need beyond their strategy, such as claims of addresses. */
  readonly extras: Readonly<Record<string, Partial<Pick<ServedResource, 'reserve' | 'released' | 'handlers'>>>>;
  /** How long objects are kept that do not stay. Default: as their strategy says. */
  readonly ttlSeconds?: number;
}

export interface CatalogDeps extends StorageDeps {
  /** What the store holds, as another server has it that keeps the same. */
  readonly inherited?: CachedObjects;
}

/** Fills the table with every built-in resource. */
export function addBuiltInResources(table: ResourceTable, options: CatalogOptions, deps: CatalogDeps): void {
  const served = new Map<string, ServedResource>();
  const strategies = new Map(options.strategies.map((strategy) => [idOf(strategy.kind), strategy]));
  const conversions = new Map(options.conversions.map((conversion) => [conversion.from, conversion]));
  const ordered = [...KINDS].sort((a, b) => Number(conversions.has(idOf(a))) - Number(conversions.has(idOf(b))));
  for (const kind of ordered as readonly Kind<unknown>[]) {
    const known = strategies.get(idOf(kind)) ?? ({ kind } as AnyStrategy);
    const strategy = known.ttlSeconds && options.ttlSeconds ? { ...known, ttlSeconds: options.ttlSeconds } : known;
    const conversion = conversions.get(idOf(kind));
    const stored = conversion && served.get(conversion.to);
    served.set(idOf(kind), build(kind, { strategy, conversion, stored, options, deps }));
  }
  table.add(...(KINDS as readonly Kind<unknown>[]).map((kind) => served.get(idOf(kind))!));
}

interface Building {
  readonly strategy: AnyStrategy;
  readonly conversion: Conversion | undefined;
  readonly stored: ServedResource | undefined;
  readonly options: CatalogOptions;
  readonly deps: CatalogDeps;
}

function build(kind: Kind<unknown>, { strategy, conversion, stored, options, deps }: Building): ServedResource {
  const place = `${kind.group}/${kind.resource}`;
  const verbs = UNSTORED[place];
  const storage = verbs !== undefined ? undefined : (stored?.storage ?? storageFor(kind, strategy, deps));
  const full: AnyStrategy = {
    ...strategy,
    ...(verbs && { verbs }),
    ...(RETURNS_DELETED.has(place) && { returnsDeletedObject: true }),
  };
  return servedResource(kind, {
    strategy: full,
    storage,
    subresources: subresourcesOf(kind, full, options.subresources[place] ?? []),
    ...(DEPRECATIONS[place] && { deprecation: DEPRECATIONS[place] }),
    ...options.extras[place],
    ...(conversion &&
      stored && { toStored: conversion.toStored, fromStored: conversion.fromStored, ...(!conversion.hasOwnRules && { storedAs: stored }) }),
  });
}

function idOf({ group, version, kind }: { group: string; version: string; kind: string }): string {
  return `${group}/${version}/${kind}`;
}

function storageFor(kind: Kind<unknown>, strategy: AnyStrategy, deps: CatalogDeps): ResourceStorage {
  const location = LOCATIONS[`${kind.group}/${kind.resource}`] ?? kind.resource;
  const trigger = strategy.selectableFields?.['spec.nodeName'];
  const names = {
    group: kind.group,
    resource: kind.resource,
    kind: kind.kind,
    apiVersion: apiVersionOf(kind),
    namespaced: kind.namespaced,
  };
  const initial = inheritedState(deps.inherited, kind);
  return new ResourceStorage({ location, ...names, ttlSeconds: strategy.ttlSeconds, initial, ...(trigger && { trigger }) }, deps);
}

const OBJECT_VERBS = ['get', 'patch', 'update'];

function subresourcesOf(kind: Kind<unknown>, strategy: AnyStrategy, special: readonly ServedSubresource[]): readonly ServedSubresource[] {
  const own = Object.entries(strategy.subresources ?? {}).map(([name, { verbs }]) => ({ name, kind, verbs }));
  const status = strategy.hasStatus && !own.some(({ name }) => name === 'status') ? [{ name: 'status', kind, verbs: OBJECT_VERBS }] : [];
  const named = new Set(special.map(({ name }) => name));
  return [...special, ...[...own, ...status].filter(({ name }) => !named.has(name))];
}
