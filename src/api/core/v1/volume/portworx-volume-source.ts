import { bool, field, type Infer, object, required, string } from '../../../schema.ts';

export const PortworxVolumeSource = object('io.k8s.api.core.v1.PortworxVolumeSource', 'A Portworx volume.', {
  volumeID: required(1, string, 'The volume.'),
  fsType: field(2, string, 'The file system, such as ext4.'),
  readOnly: field(3, bool, 'Whether it is mounted read-only.'),
});
export type PortworxVolumeSource = Infer<typeof PortworxVolumeSource>;
