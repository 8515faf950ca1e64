import { type Infer, inlined, object, required, string } from '../../schema.ts';
import { VolumeSource } from './volume-source.ts';

export const Volume = object('io.k8s.api.core.v1.Volume', '', {
  name: required(1, string),
  ...inlined(2, VolumeSource),
});
export type Volume = Infer<typeof Volume>;
