import { UserInfo } from '../../authentication/v1/user-info.ts';
import { GroupVersionKind } from '../../meta/v1/group-version-kind.ts';
import { GroupVersionResource } from '../../meta/v1/group-version-resource.ts';
import { Status } from '../../meta/v1/status.ts';
import { always, anyObject, bool, bytes, field, type Infer, listOf, mapOf, message, object, pointer, string } from '../../schema.ts';

export const AdmissionRequest = object('io.k8s.api.admission.v1.AdmissionRequest', '', {
  uid: always(1, string),
  kind: always(2, GroupVersionKind),
  resource: always(3, GroupVersionResource),
  subResource: field(4, string),
  requestKind: pointer(13, GroupVersionKind),
  requestResource: pointer(14, GroupVersionResource),
  requestSubResource: field(15, string),
  name: field(5, string),
  namespace: field(6, string),
  operation: always(7, string),
  userInfo: always(8, UserInfo),
  object: always(9, anyObject('io.k8s.apimachinery.pkg.runtime.RawExtension')),
  oldObject: always(10, anyObject('io.k8s.apimachinery.pkg.runtime.RawExtension')),
  dryRun: pointer(11, bool),
  options: always(12, anyObject('io.k8s.apimachinery.pkg.runtime.RawExtension')),
});
export type AdmissionRequest = Infer<typeof AdmissionRequest>;

export const AdmissionResponse = object('io.k8s.api.admission.v1.AdmissionResponse', '', {
  uid: always(1, string),
  allowed: always(2, bool),
  status: pointer(3, Status),
  patch: field(4, bytes),
  patchType: pointer(5, string),
  auditAnnotations: field(6, mapOf(string)),
  warnings: field(7, listOf(string)),
});
export type AdmissionResponse = Infer<typeof AdmissionResponse>;

export const AdmissionReview = message('io.k8s.api.admission.v1.AdmissionReview', '', {
  request: pointer(1, AdmissionRequest),
  response: pointer(2, AdmissionResponse),
});
export type AdmissionReview = Infer<typeof AdmissionReview>;
