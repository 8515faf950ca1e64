import { always, type Infer, listOf, message } from '../../schema.ts';
import { ListMeta } from './list-meta.ts';
import { PartialObjectMetadata } from './partial-object-metadata.ts';

export const PartialObjectMetadataList = message(
  'io.k8s.apimachinery.pkg.apis.meta.v1.PartialObjectMetadataList',
  'The metadata of objects.',
  {
    metadata: always(1, ListMeta, "Standard object's metadata."),
    items: always(2, listOf(PartialObjectMetadata), 'The objects.'),
  },
);
export type PartialObjectMetadataList = Infer<typeof PartialObjectMetadataList>;
