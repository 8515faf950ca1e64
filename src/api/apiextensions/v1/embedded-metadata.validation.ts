import { nameIsPathSegment, type structural } from '#machinery';
import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { validateObjectMeta } from '../../meta/v1/object-meta.validation.ts';

/** Decoding and validation of metadata in embedded resources. */
export const EMBEDDED_METADATA: structural.MetadataRules = {
  schema: ObjectMeta,
  validate: (metadata, path) =>
    validateObjectMeta(metadata as ObjectMeta, {
      namespaced: Boolean(metadata.namespace),
      nameRule: nameIsPathSegment,
      path,
      anyFinalizer: true,
    }),
};
