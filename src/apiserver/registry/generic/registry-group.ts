import type { Kind } from '#api';
import { apiVersionOf } from '#machinery';
import type { KubeObject } from '../../watch-cache/kube-object.ts';
import type { AnyStrategy } from './served-resource.ts';
import type { ResourceStrategy } from './strategy.ts';

/** An API group, as exported by its `group.ts`. */
export interface RegistryGroup {
  readonly strategies: readonly AnyStrategy[];
  readonly conversions: readonly Conversion[];
}

/** The conversion between a served version and the stored one. */
export interface Conversion {
  /** `group/version/kind` of the version that is not stored. */
  readonly from: string;
  readonly to: string;
  readonly toStored: (object: KubeObject) => KubeObject;
  readonly fromStored: (object: KubeObject) => KubeObject;
  /** Each version has its own validation, applied to objects in the requested version. */
  readonly hasOwnRules?: boolean;
}

/** Generic code treats every kind as a KubeObject; the kind's type is erased here. */
export function registryGroup<T extends readonly unknown[]>(
  strategies: { readonly [I in keyof T]: ResourceStrategy<T[I]> },
  conversions: readonly Conversion[] = [],
): RegistryGroup {
  return { strategies: strategies as unknown as readonly AnyStrategy[], conversions };
}

/** Adds versions to the group that share the stored version's rules. */
export function withVersions(group: RegistryGroup, ...versions: readonly OtherVersion[]): RegistryGroup {
  return {
    strategies: [...group.strategies, ...versions.map(({ strategy }) => strategy)],
    conversions: [...group.conversions, ...versions.map(({ conversion }) => conversion)],
  };
}

export interface OtherVersion {
  readonly strategy: AnyStrategy;
  readonly conversion: Conversion;
}

/** Converts `spec` to and from the stored version. */
export interface SpecConversion {
  readonly toStored: (spec: never) => unknown;
  readonly fromStored: (spec: never) => unknown;
}

/** A version whose objects differ from the stored ones at most in their spec. */
export function versionOf<T>(stored: ResourceStrategy<T>, kind: Kind<T>, spec?: SpecConversion): OtherVersion {
  const strategy = { ...stored, kind } as unknown as AnyStrategy;
  const conversion: Conversion = {
    from: kindId(kind),
    to: kindId(stored.kind),
    toStored: converter(apiVersionOf(stored.kind), spec?.toStored),
    fromStored: converter(apiVersionOf(kind), spec?.fromStored),
  };
  return { strategy: spec === undefined ? strategy : throughStored(strategy, conversion), conversion };
}

/** Defaults and table cells by conversion to the stored version. */
function throughStored(strategy: AnyStrategy, { toStored, fromStored }: Conversion): AnyStrategy {
  const { defaults, table } = strategy;
  return {
    ...strategy,
    ...(defaults && { defaults: (object) => fromStored(defaults(toStored(object))) }),
    ...(table && { table: { ...table, cells: (object, now) => table.cells(toStored(object), now) } }),
  };
}

function converter(apiVersion: string, convert: SpecConversion['toStored'] | undefined): (object: KubeObject) => KubeObject {
  if (convert === undefined) return (object) => ({ ...object, apiVersion });
  return (object) => ({ ...object, apiVersion, ...(object.spec !== undefined && { spec: convert(object.spec as never) }) });
}

/** `group/version/kind`. */
export function kindId({ group, version, kind }: { group: string; version: string; kind: string }): string {
  return `${group}/${version}/${kind}`;
}
