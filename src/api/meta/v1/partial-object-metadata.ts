import { always, type Infer, message } from '../../schema.ts';
import { ObjectMeta } from './object-meta.ts';

export const PartialObjectMetadata = message('io.k8s.apimachinery.pkg.apis.meta.v1.PartialObjectMetadata', '', {
  metadata: always(1, ObjectMeta),
});
export type PartialObjectMetadata = Infer<typeof PartialObjectMetadata>;
