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
export function withoutMetadata(object: KubeObject, ...names: (keyof meta.ObjectMeta)[]): KubeObject {
  if (!names.some((name) => name in object.metadata)) return object;
  const metadata = { ...object.metadata } as Record<string, unknown>;
  for (const name of names) delete metadata[name];
  return { ...object, metadata: metadata as unknown as KubeObject['metadata'] };
}
