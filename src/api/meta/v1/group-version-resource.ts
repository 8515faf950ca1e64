import { always, type Infer, object, string } from '../../schema.ts';

export const GroupVersionResource = object(
  'io.k8s.apimachinery.pkg.apis.meta.v1.GroupVersionResource',
  'A resource, with group and version.',
  {
    group: always(1, string, 'The API group.'),
    version: always(2, string, 'The API version.'),
    resource: always(3, string, 'The resource.'),
  },
);
export type GroupVersionResource = Infer<typeof GroupVersionResource>;
