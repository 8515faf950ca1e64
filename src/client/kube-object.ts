import type { meta } from '#api';

/** The common fields of all API objects. Immutable. */
export interface Identified {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: meta.ObjectMeta & { readonly name: string };
}

/** An object of a kind that is only known at run time. */
export interface KubeObject extends Identified {
  readonly [field: string]: unknown;
}

/** Identifies an object within its kind. Object metadata is a key: `pods.get(pod.metadata)` reads it again. */
export interface ObjectKey {
  readonly name: string;
  readonly namespace?: string | undefined;
}

/** An object to create: its name may be generated. */
export type Draft<T extends Identified> = Omit<T, 'metadata'> & { readonly metadata?: Partial<T['metadata']> };

export interface ObjectList<T> {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string; readonly remainingItemCount?: number };
  readonly items: readonly T[];
}

/** `namespace/name`, or the name for cluster-scoped objects. */
export function keyOf({ metadata }: { readonly metadata: ObjectKey }): string {
  return keyText(metadata);
}

export function keyText({ namespace, name }: ObjectKey): string {
  return namespace ? `${namespace}/${name}` : name;
}

/** The inverse of `keyText`. */
export function parseKey(key: string): ObjectKey {
  const slash = key.indexOf('/');
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
