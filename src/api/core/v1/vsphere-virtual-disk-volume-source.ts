import { field, type Infer, object, required, string } from '../../schema.ts';

export const VsphereVirtualDiskVolumeSource = object('io.k8s.api.core.v1.VsphereVirtualDiskVolumeSource', '', {
  volumePath: required(1, string),
  fsType: field(2, string, 'The file system, such as ext4.'),
  storagePolicyName: field(3, string),
  storagePolicyID: field(4, string),
});
export type VsphereVirtualDiskVolumeSource = Infer<typeof VsphereVirtualDiskVolumeSource>;
