import { bool, field, type Infer, int32, object, required, string } from '../../../schema.ts';

export const AWSElasticBlockStoreVolumeSource = object('io.k8s.api.core.v1.AWSElasticBlockStoreVolumeSource', 'A disk of AWS.', {
  volumeID: required(1, string, 'The disk.'),
  fsType: field(2, string, 'The file system, such as ext4.'),
  partition: field(3, int32, 'The partition; the whole disk by default.'),
  readOnly: field(4, bool, 'Whether it is mounted read-only.'),
});
export type AWSElasticBlockStoreVolumeSource = Infer<typeof AWSElasticBlockStoreVolumeSource>;
