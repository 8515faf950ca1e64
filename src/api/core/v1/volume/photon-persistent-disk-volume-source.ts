import { field, type Infer, object, required, string } from '../../../schema.ts';

export const PhotonPersistentDiskVolumeSource = object('io.k8s.api.core.v1.PhotonPersistentDiskVolumeSource', 'No longer supported.', {
  pdID: required(1, string, 'The disk.'),
  fsType: field(2, string, 'The file system, such as ext4.'),
});
export type PhotonPersistentDiskVolumeSource = Infer<typeof PhotonPersistentDiskVolumeSource>;
