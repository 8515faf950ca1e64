import { bool, field, type Infer, int32, listOf, object, pointer, string } from '../../../schema.ts';

export const FCVolumeSource = object('io.k8s.api.core.v1.FCVolumeSource', 'A Fibre Channel disk.', {
  targetWWNs: field(1, listOf(string), 'The names of the targets.'),
  lun: pointer(2, int32, 'The number of the disk.'),
  fsType: field(3, string, 'The file system, such as ext4.'),
  readOnly: field(4, bool, 'Whether it is mounted read-only.'),
  wwids: field(5, listOf(string), 'The ids of the disk, instead of targets and number.'),
});
export type FCVolumeSource = Infer<typeof FCVolumeSource>;
