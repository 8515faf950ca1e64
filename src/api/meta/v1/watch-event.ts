import { anyObject, type Infer, object, required, string } from '../../schema.ts';

export const WatchEvent = object('io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent', '', {
  type: required(1, string),
  object: required(2, anyObject('io.k8s.apimachinery.pkg.runtime.RawExtension')),
});
export type WatchEvent = Infer<typeof WatchEvent>;
