import type { meta } from '#api';

/** Any API object, as the generic parts of the server see it. Immutable. */
export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: meta.ObjectMeta & { readonly name: string };
  readonly [field: string]: unknown;
}

export function withMetadata(object: KubeObject, changes: Partial<KubeObject['metadata']>): KubeObject {
  return { ...object, metadata: { ...object.metadata, ...changes } };
}

/** Without the named members of its metadata; the same object when it has none of them. */
export function withoutMetadata<T extends { readonly metadata: meta.ObjectMeta }>(object: T, ...names: (keyof meta.ObjectMeta)[]): T {
  const { metadata } = object;
  if (!names.some((name) => metadata[name] !== undefined)) return object;
  // Copied one by one: deleting members would make the copy a slow dictionary.
  const kept: Record<string, unknown> = {};
  for (const name in metadata) if (!names.includes(name as keyof meta.ObjectMeta)) kept[name] = metadata[name as keyof meta.ObjectMeta];
  return Object.assign({}, object, { metadata: kept });
}
