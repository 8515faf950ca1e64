import { field, type Infer, object, string } from '../../schema.ts';

export const FlockerVolumeSource = object('io.k8s.api.core.v1.FlockerVolumeSource', '', {
  datasetName: field(1, string),
  datasetUUID: field(2, string),
});
export type FlockerVolumeSource = Infer<typeof FlockerVolumeSource>;
