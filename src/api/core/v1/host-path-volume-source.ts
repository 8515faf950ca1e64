import { type Infer, object, pointer, required, string } from '../../schema.ts';

export const HostPathVolumeSource = object('io.k8s.api.core.v1.HostPathVolumeSource', '', {
  path: required(1, string),
  type: pointer(2, string),
});
export type HostPathVolumeSource = Infer<typeof HostPathVolumeSource>;
