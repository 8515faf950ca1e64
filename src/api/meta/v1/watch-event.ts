import { anyObject, type Infer, object, required, string } from '../../schema.ts';

export const WatchEvent = object('io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent', 'A change to an object.', {
  type: required(1, string, 'ADDED, MODIFIED, DELETED, BOOKMARK or ERROR.'),
  object: required(
    2,
    anyObject('io.k8s.apimachinery.pkg.runtime.RawExtension'),
    'The object as it is now, or as it last was; a Status for ERROR.',
  ),
});
export type WatchEvent = Infer<typeof WatchEvent>;
