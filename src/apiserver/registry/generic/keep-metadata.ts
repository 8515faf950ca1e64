import type { meta } from '#api';

/** For kinds whose status subresource must not change metadata. */
export function keepMetadata<T extends { readonly metadata: meta.ObjectMeta }>(object: T, old: T): T {
  const { labels: _l, annotations: _a, ownerReferences: _o, finalizers: _f, deletionTimestamp: _d, ...rest } = object.metadata;
  const { labels, annotations, ownerReferences, finalizers, deletionTimestamp } = old.metadata;
  const preserved = {
    ...(labels && { labels }),
    ...(annotations && { annotations }),
    ...(ownerReferences && { ownerReferences }),
    ...(finalizers && { finalizers }),
    ...(deletionTimestamp && { deletionTimestamp }),
  };
  return { ...object, metadata: { ...rest, ...preserved } };
}
