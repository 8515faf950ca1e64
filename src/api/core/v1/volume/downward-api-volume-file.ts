import { type Infer, int32, object, pointer, required, string } from '../../../schema.ts';
import { ObjectFieldSelector } from '../container/object-field-selector.ts';
import { ResourceFieldSelector } from '../container/resource-field-selector.ts';

export const DownwardAPIVolumeFile = object('io.k8s.api.core.v1.DownwardAPIVolumeFile', 'A file with a field of the pod.', {
  path: required(1, string, 'The file, relative to the volume.'),
  fieldRef: pointer(2, ObjectFieldSelector, 'A field of the pod.'),
  resourceFieldRef: pointer(3, ResourceFieldSelector, "A request or limit of a container's resources."),
  mode: pointer(4, int32, 'The permission bits of the file; those of the volume by default.'),
});
export type DownwardAPIVolumeFile = Infer<typeof DownwardAPIVolumeFile>;
