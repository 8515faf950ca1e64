import type { meta } from '#api';

/** Any API object. Immutable. */
export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: meta.ObjectMeta & { readonly name: string };
  readonly [field: string]: unknown;
}

export function withMetadata(object: KubeObject, changes: Partial<KubeObject['metadata']>): KubeObject {
  return { ...object, metadata: { ...object.metadata, ...changes } };
}

/** Without the named metadata members; the same object if it has none. */
export function withoutMetadata<T extends { readonly metadata: meta.ObjectMeta }>(object: T, ...names: (keyof meta.ObjectMeta)[]): T {
  const { metadata } = object;
  if (!names.some((name) => metadata[name] !== undefined)) return object;
  // Copied member by member: `delete` would make the copy a slow dictionary.
  const result: Record<string, unknown> = {};
  for (const name in metadata) if (!names.includes(name as keyof meta.ObjectMeta)) result[name] = metadata[name as keyof meta.ObjectMeta];
  return Object.assign({}, object, { metadata: result });
}
