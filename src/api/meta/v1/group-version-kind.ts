import { always, type Infer, object, string } from '../../schema.ts';

export const GroupVersionKind = object('io.k8s.apimachinery.pkg.apis.meta.v1.GroupVersionKind', 'A kind, with group and version.', {
  group: always(1, string, 'The API group.'),
  version: always(2, string, 'The API version.'),
  kind: always(3, string, 'The kind.'),
});
export type GroupVersionKind = Infer<typeof GroupVersionKind>;
