import { UserInfo } from '../../authentication/v1/user-info.ts';
import { GroupVersionKind } from '../../meta/v1/group-version-kind.ts';
import { GroupVersionResource } from '../../meta/v1/group-version-resource.ts';
import { Status } from '../../meta/v1/status.ts';
import { always, anyObject, bool, bytes, field, type Infer, listOf, mapOf, message, named, object, pointer, string } from '../../schema.ts';

export const AdmissionRequest = object('io.k8s.api.admission.v1.AdmissionRequest', 'The request that a webhook is called for.', {
  uid: always(1, named('types.UID'), 'The UID of this request, repeated in the response.'),
  kind: always(2, GroupVersionKind, "The kind of the object, in the version that the webhook's rules match."),
  resource: always(3, GroupVersionResource, "The resource, in the version that the webhook's rules match."),
  subResource: field(4, string, "The subresource, in the version that the webhook's rules match."),
  requestKind: pointer(13, GroupVersionKind, 'The kind as it was in the request.'),
  requestResource: pointer(14, GroupVersionResource, 'The resource as it was in the request.'),
  requestSubResource: field(15, string, 'The subresource as it was in the request.'),
  name: field(5, string, 'The name of the object, when there is one.'),
  namespace: field(6, string, 'The namespace of the object.'),
  operation: always(7, named('v1.Operation'), 'CREATE, UPDATE, DELETE or CONNECT.'),
  userInfo: always(8, UserInfo, 'Who makes the request.'),
  object: always(9, anyObject('io.k8s.apimachinery.pkg.runtime.RawExtension'), 'The object to be written.'),
  oldObject: always(10, anyObject('io.k8s.apimachinery.pkg.runtime.RawExtension'), 'The object as it is.'),
  dryRun: pointer(11, bool, 'Whether nothing will be written.'),
  options: always(12, anyObject('io.k8s.apimachinery.pkg.runtime.RawExtension'), 'The options of the request.'),
});
export type AdmissionRequest = Infer<typeof AdmissionRequest>;

export const AdmissionResponse = object('io.k8s.api.admission.v1.AdmissionResponse', 'What a webhook answers.', {
  uid: always(1, named('types.UID'), 'The UID of the request.'),
  allowed: always(2, bool, 'Whether the request may go on.'),
  status: pointer(3, Status, 'Why not.'),
  patch: field(4, bytes, 'Changes to the object, in base64.'),
  patchType: pointer(5, named('v1.PatchType'), 'JSONPatch.'),
  auditAnnotations: field(6, mapOf(string), 'What to note in the audit log.'),
  warnings: field(7, listOf(string), 'What to warn the client of.'),
});
export type AdmissionResponse = Infer<typeof AdmissionResponse>;

export const AdmissionReview = message(
  'io.k8s.api.admission.v1.AdmissionReview',
  'Asks a webhook about a request, and carries its answer.',
  {
    request: pointer(1, AdmissionRequest, 'The request.'),
    response: pointer(2, AdmissionResponse, 'The answer.'),
  },
);
export type AdmissionReview = Infer<typeof AdmissionReview>;
