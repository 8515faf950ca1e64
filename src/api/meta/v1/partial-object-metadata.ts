import { always, type Infer, message } from '../../schema.ts';
import { ObjectMeta } from './object-meta.ts';

export const PartialObjectMetadata = message(
  'io.k8s.apimachinery.pkg.apis.meta.v1.PartialObjectMetadata',
  'The metadata of an object of any kind.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
  },
);
export type PartialObjectMetadata = Infer<typeof PartialObjectMetadata>;
