import { field, type Infer, object, string } from '../../../schema.ts';

export const FlockerVolumeSource = object('io.k8s.api.core.v1.FlockerVolumeSource', 'No longer supported.', {
  datasetName: field(1, string, 'The name of the dataset.'),
  datasetUUID: field(2, string, 'The id of the dataset.'),
});
export type FlockerVolumeSource = Infer<typeof FlockerVolumeSource>;
