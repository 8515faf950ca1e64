import type { meta } from '#api';

/** What every object of the API has, whatever its kind. Immutable. */
export interface Identified {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: meta.ObjectMeta & { readonly name: string };
}

/** An object of a kind that is known at run time only. */
export interface KubeObject extends Identified {
  readonly [field: string]: unknown;
}

/** Names an object within its kind. The metadata of an object does, so that `pods.get(pod.metadata)` reads it again. */
export interface ObjectKey {
  readonly name: string;
  readonly namespace?: string | undefined;
}

/** An object that is to be created: the server may still choose its name. */
export type Draft<T extends Identified> = Omit<T, 'metadata'> & { readonly metadata?: Partial<T['metadata']> };

export interface ObjectList<T> {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string; readonly remainingItemCount?: number };
  readonly items: readonly T[];
}

/** `namespace/name`, or the name alone: unique within a kind. */
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
