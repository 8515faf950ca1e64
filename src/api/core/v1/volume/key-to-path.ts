import { type Infer, int32, object, pointer, required, string } from '../../../schema.ts';

export const KeyToPath = object('io.k8s.api.core.v1.KeyToPath', 'A key and the file it becomes.', {
  key: required(1, string, 'The key.'),
  path: required(2, string, 'The file, relative to the volume.'),
  mode: pointer(3, int32, 'The permission bits of the file; those of the volume by default.'),
});
export type KeyToPath = Infer<typeof KeyToPath>;
