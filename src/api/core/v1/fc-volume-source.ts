import { bool, field, type Infer, int32, listOf, object, pointer, string } from '../../schema.ts';

export const FCVolumeSource = object('io.k8s.api.core.v1.FCVolumeSource', '', {
  targetWWNs: field(1, listOf(string)),
  lun: pointer(2, int32),
  fsType: field(3, string, 'The file system, such as ext4.'),
  readOnly: field(4, bool, 'Whether it is mounted read-only.'),
  wwids: field(5, listOf(string)),
});
export type FCVolumeSource = Infer<typeof FCVolumeSource>;
