import { Condition } from '../../meta/v1/condition.ts';
import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import {
  always,
  bytes,
  field,
  type Infer,
  int32,
  kind,
  mapListOf,
  mapOf,
  named,
  nullable,
  object,
  pointer,
  required,
  string,
  time,
} from '../../schema.ts';

export const PodCertificateRequestSpec = object(
  'io.k8s.api.certificates.v1beta1.PodCertificateRequestSpec',
  'The desired certificate and its subject. Immutable.',
  {
    signerName: required(1, string, 'The signer.'),
    podName: required(2, string, 'The pod that gets the certificate.'),
    podUID: required(3, named('types.UID'), 'The uid of the pod.'),
    serviceAccountName: required(4, string, 'The service account of the pod.'),
    serviceAccountUID: required(5, named('types.UID'), 'The uid of the service account.'),
    nodeName: required(6, named('types.NodeName'), 'The node of the pod.'),
    nodeUID: required(7, named('types.UID'), 'The uid of the node.'),
    maxExpirationSeconds: pointer(8, int32, 'How long the certificate may be valid: an hour to 91 days.', { default: 86400 }),
    pkixPublicKey: nullable(9, bytes, 'The public key. Deprecated: stubPKCS10Request has it.'),
    proofOfPossession: nullable(10, bytes, 'The uid of the pod, signed with the private key. Deprecated, as the key above.'),
    stubPKCS10Request: nullable(12, bytes, 'A certificate request, of which the signer uses the public key.', { required: true }),
    unverifiedUserAnnotations: field(11, mapOf(string), "Annotations of the pod's author for the signer, not verified."),
  },
);
export type PodCertificateRequestSpec = Infer<typeof PodCertificateRequestSpec>;

export const PodCertificateRequestStatus = object(
  'io.k8s.api.certificates.v1beta1.PodCertificateRequestStatus',
  'The certificate, or why there is none.',
  {
    conditions: field(1, mapListOf(Condition, 'type'), 'One of Issued, Denied and Failed.', { merge: 'type' }),
    certificateChain: field(2, string, 'The certificate and those of the authorities between, as PEM.'),
    notBefore: pointer(4, time, 'From when on the certificate is valid.'),
    beginRefreshAt: pointer(5, time, 'When to request the next certificate.'),
    notAfter: pointer(6, time, 'Until when the certificate is valid.'),
  },
);
export type PodCertificateRequestStatus = Infer<typeof PodCertificateRequestStatus>;

export const PodCertificateRequest = kind(
  {
    name: 'io.k8s.api.certificates.v1beta1.PodCertificateRequest',
    group: 'certificates.k8s.io',
    version: 'v1beta1',
    kind: 'PodCertificateRequest',
    resource: 'podcertificaterequests',
    namespaced: true,
    lifecycle: { introduced: '1.35', deprecated: '1.38', removed: '1.41' },
    featureGate: 'PodCertificateRequest',
  },
  'Asks a signer for a certificate of a pod.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    spec: required(2, PodCertificateRequestSpec, 'The desired certificate.'),
    status: always(3, PodCertificateRequestStatus, 'What the signer answered.'),
  },
);
export type PodCertificateRequest = Infer<typeof PodCertificateRequest>;
