import { always, type Infer, listOf, message } from '../../schema.ts';
import { ListMeta } from './list-meta.ts';
import { PartialObjectMetadata } from './partial-object-metadata.ts';

export const PartialObjectMetadataList = message('io.k8s.apimachinery.pkg.apis.meta.v1.PartialObjectMetadataList', '', {
  metadata: always(1, ListMeta),
  items: always(2, listOf(PartialObjectMetadata)),
});
export type PartialObjectMetadataList = Infer<typeof PartialObjectMetadataList>;
