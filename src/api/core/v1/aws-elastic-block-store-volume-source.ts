import { bool, field, type Infer, int32, object, required, string } from '../../schema.ts';

export const AWSElasticBlockStoreVolumeSource = object('io.k8s.api.core.v1.AWSElasticBlockStoreVolumeSource', '', {
  volumeID: required(1, string),
  fsType: field(2, string),
  partition: field(3, int32),
  readOnly: field(4, bool),
});
export type AWSElasticBlockStoreVolumeSource = Infer<typeof AWSElasticBlockStoreVolumeSource>;
