import { deprecationWarning, KINDS, type Kind, PRERELEASE_KINDS, RELEASE } from '#api';
import { apiVersionOf } from '#machinery';
import type { StoredVersion } from '../../storage-format/storage-format.ts';
import type { KubeObject } from '../../watch-cache/kube-object.ts';
import { type CachedObjects, inheritedState } from './cached-objects.ts';
import { type Conversion, kindId, type RegistryGroup } from './registry-group.ts';
import { ResourceStorage, type StorageDeps, type StorageOptions } from './resource-storage.ts';
import type { ResourceTable } from './resource-table.ts';
import type { ScaleFields } from './scale-fields.ts';
import { type AnyStrategy, type ServedResource, type ServedSubresource, servedResource } from './served-resource.ts';

export interface CatalogOptions {
  readonly groups: readonly RegistryGroup[];
  /** Subresources that are not the object itself, by `group/resource`. */
  readonly subresources: Readonly<Record<string, readonly ServedSubresource[]>>;
  /** Additions to resources, such as allocation of addresses. */
  readonly extras: Readonly<Record<string, Partial<Pick<ServedResource, 'reserve' | 'released'>>>>;
  /** Which kinds are served. Default: GA versions. */
  readonly isServed?: (kind: Kind<unknown>) => boolean;
  /** The emulated release. Default: the newest. */
  readonly release?: string;
  /** Gates that are on, of those that are off by default. Default: none. */
  readonly features?: ReadonlySet<string>;
  /** The lifetime of expiring objects, instead of the strategy's. */
  readonly ttlSeconds?: number;
}

export interface CatalogDeps extends StorageDeps {
  /** The caches of another server with the same content. */
  readonly inherited?: CachedObjects;
}

const ALL_KINDS: readonly Kind<unknown>[] = [...KINDS, ...PRERELEASE_KINDS];

/** Fills the table with the built-in resources that are served. */
export function addBuiltInResources(table: ResourceTable, options: CatalogOptions, deps: CatalogDeps): void {
  const served = new Map<string, ServedResource>();
  const strategies = new Map(options.groups.flatMap((group) => group.strategies.map((strategy) => [kindId(strategy.kind), strategy])));
  const conversions = new Map(options.groups.flatMap((group) => group.conversions.map((conversion) => [conversion.from, conversion])));
  const ordered = ALL_KINDS.toSorted((a, b) => Number(conversions.has(kindId(a))) - Number(conversions.has(kindId(b))));
  for (const kind of ordered) {
    const declared = strategies.get(kindId(kind)) ?? ({ kind } as AnyStrategy);
    const strategy = declared.ttlSeconds && options.ttlSeconds ? { ...declared, ttlSeconds: options.ttlSeconds } : declared;
    const conversion = conversions.get(kindId(kind));
    const stored = conversion && served.get(conversion.to);
    const others = otherVersions(kind, conversions.values());
    served.set(kindId(kind), resourceOf(kind, { strategy, conversion, stored, others, options, deps }));
  }
  const { isServed = isStable } = options;
  // bounded: spread lists are the kinds that are built in
  table.add(...ALL_KINDS.filter(isServed).map((kind) => served.get(kindId(kind))!));
  // bounded: spread lists are the kinds that are built in
  table.hide(...ALL_KINDS.filter((kind) => !isServed(kind)).map((kind) => served.get(kindId(kind))!));
}

function isStable({ lifecycle }: Kind<unknown>): boolean {
  return lifecycle === undefined;
}

interface ResourceParts {
  readonly strategy: AnyStrategy;
  readonly conversion: Conversion | undefined;
  readonly stored: ServedResource | undefined;
  /** The versions that convert to this one. */
  readonly others: readonly StoredVersion[];
  readonly options: CatalogOptions;
  readonly deps: CatalogDeps;
}

function resourceOf(kind: Kind<unknown>, { strategy, conversion, stored, others, options, deps }: ResourceParts): ServedResource {
  const groupResource = `${kind.group}/${kind.resource}`;
  const storage = strategy.isStored === false ? undefined : (stored?.storage ?? storageFor(kind, { strategy, others, deps }));
  const deprecation = strategy.deprecation ?? deprecationWarning(kind, options.release ?? RELEASE);
  return servedResource(kind, {
    strategy,
    storage,
    subresources: subresourcesOf(kind, strategy, options.subresources[groupResource] ?? []),
    ...(deprecation && { deprecation }),
    ...(options.features && { features: options.features }),
    ...(strategy.storedVersion && { storedVersion: strategy.storedVersion }),
    ...options.extras[groupResource],
    ...(conversion &&
      stored && { toStored: conversion.toStored, fromStored: conversion.fromStored, ...(!conversion.hasOwnRules && { storedAs: stored }) }),
  });
}

/** Other versions of a kind that the store may contain, written by other servers. */
function otherVersions(kind: Kind<unknown>, conversions: Iterable<Conversion>): readonly StoredVersion[] {
  return [...conversions]
    .filter(({ to }) => to === kindId(kind))
    .map(({ from, toStored, fromStored }) => {
      const schema = ALL_KINDS.find((candidate) => kindId(candidate) === from)!;
      return { apiVersion: apiVersionOf(schema), schema, toInternal: toStored, fromInternal: fromStored };
    });
}

const identity = (object: KubeObject) => object;

function storedKind(kind: Kind<unknown>, strategy: AnyStrategy, others: readonly StoredVersion[]): NonNullable<StorageOptions['stored']> {
  const own = { apiVersion: apiVersionOf(kind), schema: kind, toInternal: identity, fromInternal: identity };
  const { defaults, storedVersion, storedForms = [], storedAsJson: isJsonOnly } = strategy;
  return {
    versions: new Map([own, ...others, ...storedForms].map((version) => [version.apiVersion, version])),
    defaults,
    isJsonOnly,
    written: storedVersion && apiVersionOf({ ...kind, version: storedVersion }),
  };
}

function storageFor(kind: Kind<unknown>, { strategy, others, deps }: Pick<ResourceParts, 'strategy' | 'others' | 'deps'>): ResourceStorage {
  const location = strategy.location ?? kind.resource;
  const trigger = strategy.selectableFields?.['spec.nodeName'];
  const names = {
    group: kind.group,
    resource: kind.resource,
    kind: kind.kind,
    apiVersion: apiVersionOf(kind),
    namespaced: kind.namespaced,
  };
  const initial = inheritedState(deps.inherited, kind);
  const stored = storedKind(kind, strategy, others);
  const { ttlSeconds } = strategy;
  return new ResourceStorage({ location, ...names, schema: kind, stored, ttlSeconds, initial, ...(trigger && { trigger }) }, deps);
}

const OBJECT_VERBS = ['get', 'patch', 'update'];

export function scaleSubresource(scale: ScaleFields): ServedSubresource {
  return { name: 'scale', kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' }, verbs: OBJECT_VERBS, scale };
}

function subresourcesOf(kind: Kind<unknown>, strategy: AnyStrategy, special: readonly ServedSubresource[]): readonly ServedSubresource[] {
  const own = Object.entries(strategy.subresources ?? {}).map(([name, { verbs }]) => ({ name, kind, verbs }));
  const status = strategy.hasStatus && !own.some(({ name }) => name === 'status') ? [{ name: 'status', kind, verbs: OBJECT_VERBS }] : [];
  const scale = strategy.scale ? [scaleSubresource(strategy.scale)] : [];
  const specialNames = new Set(special.map(({ name }) => name));
  return [...special, ...scale, ...[...own, ...status].filter(({ name }) => !specialNames.has(name))];
}
