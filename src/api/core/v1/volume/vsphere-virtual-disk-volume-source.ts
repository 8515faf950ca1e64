import { field, type Infer, object, required, string } from '../../../schema.ts';

export const VsphereVirtualDiskVolumeSource = object('io.k8s.api.core.v1.VsphereVirtualDiskVolumeSource', 'A vSphere disk.', {
  volumePath: required(1, string, 'The path of the disk.'),
  fsType: field(2, string, 'The file system, such as ext4.'),
  storagePolicyName: field(3, string, 'The storage policy.'),
  storagePolicyID: field(4, string, 'The id of the storage policy.'),
});
export type VsphereVirtualDiskVolumeSource = Infer<typeof VsphereVirtualDiskVolumeSource>;
