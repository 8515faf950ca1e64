import { type Infer, int32, object, pointer, required, string } from '../../schema.ts';

export const KeyToPath = object('io.k8s.api.core.v1.KeyToPath', '', {
  key: required(1, string),
  path: required(2, string),
  mode: pointer(3, int32),
});
export type KeyToPath = Infer<typeof KeyToPath>;
