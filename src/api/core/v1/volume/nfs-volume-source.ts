import { bool, field, type Infer, object, required, string } from '../../../schema.ts';

export const NFSVolumeSource = object('io.k8s.api.core.v1.NFSVolumeSource', 'A directory of an NFS server.', {
  server: required(1, string, 'The server.'),
  path: required(2, string, 'The directory that it exports.'),
  readOnly: field(3, bool, 'Whether it is mounted read-only.'),
});
export type NFSVolumeSource = Infer<typeof NFSVolumeSource>;
