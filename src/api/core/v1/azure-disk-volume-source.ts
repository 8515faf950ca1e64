import { bool, type Infer, object, pointer, required, string } from '../../schema.ts';

export const AzureDiskVolumeSource = object('io.k8s.api.core.v1.AzureDiskVolumeSource', '', {
  diskName: required(1, string),
  diskURI: required(2, string),
  cachingMode: pointer(3, string, '', { default: 'ReadWrite' }),
  fsType: pointer(4, string, 'The file system, such as ext4.', { default: 'ext4' }),
  readOnly: pointer(5, bool, 'Whether it is mounted read-only.'),
  kind: pointer(6, string, 'The kind.', { default: 'Shared' }),
});
export type AzureDiskVolumeSource = Infer<typeof AzureDiskVolumeSource>;
