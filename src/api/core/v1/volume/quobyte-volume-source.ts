import { bool, field, type Infer, object, required, string } from '../../../schema.ts';

export const QuobyteVolumeSource = object('io.k8s.api.core.v1.QuobyteVolumeSource', 'No longer supported.', {
  registry: required(1, string, 'The registries, as host:port.'),
  volume: required(2, string, 'The volume.'),
  readOnly: field(3, bool, 'Whether it is mounted read-only.'),
  user: field(4, string, 'The user to mount as.'),
  group: field(5, string, 'The group to mount as.'),
  tenant: field(6, string, 'The tenant that owns the volume.'),
});
export type QuobyteVolumeSource = Infer<typeof QuobyteVolumeSource>;
