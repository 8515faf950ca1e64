import { bool, field, type Infer, object, required, string } from '../../schema.ts';

export const QuobyteVolumeSource = object('io.k8s.api.core.v1.QuobyteVolumeSource', '', {
  registry: required(1, string),
  volume: required(2, string),
  readOnly: field(3, bool, 'Whether it is mounted read-only.'),
  user: field(4, string),
  group: field(5, string),
  tenant: field(6, string),
});
export type QuobyteVolumeSource = Infer<typeof QuobyteVolumeSource>;
