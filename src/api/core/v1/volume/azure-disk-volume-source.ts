import { bool, type Infer, named, object, pointer, required, string } from '../../../schema.ts';

export const AzureDiskVolumeSource = object('io.k8s.api.core.v1.AzureDiskVolumeSource', 'An Azure disk.', {
  diskName: required(1, string, 'The name of the disk.'),
  diskURI: required(2, string, 'The address of the disk.'),
  cachingMode: pointer(3, named('v1.AzureDataDiskCachingMode'), 'None, ReadOnly or ReadWrite.', { default: 'ReadWrite' }),
  fsType: pointer(4, string, 'The file system, such as ext4.', { default: 'ext4' }),
  readOnly: pointer(5, bool, 'Whether it is mounted read-only.', { default: false }),
  kind: pointer(6, named('v1.AzureDataDiskKind'), 'The kind.', { default: 'Shared' }),
});
export type AzureDiskVolumeSource = Infer<typeof AzureDiskVolumeSource>;
