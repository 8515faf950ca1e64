import { type Infer, inlined, object, required, string } from '../../../schema.ts';
import { VolumeSource } from './volume-source.ts';

export const Volume = object('io.k8s.api.core.v1.Volume', 'Storage that containers of a pod can mount.', {
  name: required(1, string, 'The name, unique in the pod.'),
  ...inlined(2, VolumeSource),
});
export type Volume = Infer<typeof Volume>;
