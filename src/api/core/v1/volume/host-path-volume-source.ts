import { type Infer, named, object, pointer, required, string } from '../../../schema.ts';

export const HostPathVolumeSource = object('io.k8s.api.core.v1.HostPathVolumeSource', 'A file or directory of the node.', {
  path: required(1, string, 'The path on the node.'),
  type: pointer(
    2,
    named('v1.HostPathType'),
    "What must be there, or be made: Directory, DirectoryOrCreate, File, FileOrCreate, Socket, CharDevice, BlockDevice; '' does not check.",
  ),
});
export type HostPathVolumeSource = Infer<typeof HostPathVolumeSource>;
