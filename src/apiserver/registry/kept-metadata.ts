import type { meta } from '#api';

/** Some kinds let their status subresource change nothing but the status: labels, annotations, owners and finalizers stay. */
export function withKeptMetadata<T extends { readonly metadata: meta.ObjectMeta }>(object: T, old: T): T {
  const { labels: _l, annotations: _a, ownerReferences: _o, finalizers: _f, deletionTimestamp: _d, ...rest } = object.metadata;
  const { labels, annotations, ownerReferences, finalizers, deletionTimestamp } = old.metadata;
  const kept = {
    ...(labels && { labels }),
    ...(annotations && { annotations }),
    ...(ownerReferences && { ownerReferences }),
    ...(finalizers && { finalizers }),
    ...(deletionTimestamp && { deletionTimestamp }),
  };
  return { ...object, metadata: { ...rest, ...kept } };
}
