import { always, anyObject, type Infer, listOf, message } from '../../schema.ts';
import { ListMeta } from './list-meta.ts';

export const List = message('io.k8s.apimachinery.pkg.apis.meta.v1.List', 'Objects of any kinds.', {
  metadata: always(1, ListMeta, "Standard object's metadata."),
  items: always(2, listOf(anyObject('io.k8s.apimachinery.pkg.runtime.RawExtension')), 'The objects.'),
});
export type List = Infer<typeof List>;
