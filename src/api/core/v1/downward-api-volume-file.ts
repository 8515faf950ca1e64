import { type Infer, int32, object, pointer, required, string } from '../../schema.ts';
import { ObjectFieldSelector } from './object-field-selector.ts';
import { ResourceFieldSelector } from './resource-field-selector.ts';

export const DownwardAPIVolumeFile = object('io.k8s.api.core.v1.DownwardAPIVolumeFile', '', {
  path: required(1, string),
  fieldRef: pointer(2, ObjectFieldSelector),
  resourceFieldRef: pointer(3, ResourceFieldSelector),
  mode: pointer(4, int32),
});
export type DownwardAPIVolumeFile = Infer<typeof DownwardAPIVolumeFile>;
