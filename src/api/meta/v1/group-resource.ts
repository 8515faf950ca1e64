import { type Infer, object, required, string } from '../../schema.ts';

export const GroupResource = object('io.k8s.apimachinery.pkg.apis.meta.v1.GroupResource', 'A resource of a group, in any version.', {
  group: required(1, string, 'The group; empty for the core group.'),
  resource: required(2, string, 'The resource, in the plural.'),
});
export type GroupResource = Infer<typeof GroupResource>;
