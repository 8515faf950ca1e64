import { bool, field, type Infer, object, required, string } from '../../schema.ts';

export const NFSVolumeSource = object('io.k8s.api.core.v1.NFSVolumeSource', '', {
  server: required(1, string),
  path: required(2, string),
  readOnly: field(3, bool),
});
export type NFSVolumeSource = Infer<typeof NFSVolumeSource>;
