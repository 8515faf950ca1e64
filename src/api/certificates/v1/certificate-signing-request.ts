import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import {
  always,
  bytes,
  field,
  type Infer,
  int32,
  kind,
  listOf,
  mapListOf,
  mapOf,
  named,
  object,
  pointer,
  required,
  string,
  time,
  unmarkedListOf,
} from '../../schema.ts';

export const CertificateSigningRequestSpec = object(
  'io.k8s.api.certificates.v1.CertificateSigningRequestSpec',
  'A request for a certificate.',
  {
    request: required(1, bytes, 'The PKCS#10 request, as PEM in base64.'),
    signerName: required(7, string, 'Who is to sign, as in kubernetes.io/kube-apiserver-client.'),
    expirationSeconds: pointer(8, int32, 'How long the certificate is to be good; the signer may choose otherwise.'),
    usages: field(5, listOf(named('v1.KeyUsage')), 'What the key is to be used for.'),
    username: field(2, string, 'The user who created the request. Set by the system.'),
    uid: field(3, string, 'The id of the requesting user. Set by the system.'),
    groups: field(4, listOf(string), 'The groups of the requesting user. Set by the system.'),
    extra: field(6, mapOf(named('v1.ExtraValue', unmarkedListOf(string))), 'Further attributes of the requesting user. Set by the system.'),
  },
);
export type CertificateSigningRequestSpec = Infer<typeof CertificateSigningRequestSpec>;

export const CertificateSigningRequestCondition = object(
  'io.k8s.api.certificates.v1.CertificateSigningRequestCondition',
  'A decision on a request.',
  {
    type: required(1, named('v1.RequestConditionType'), 'The type of finding.'),
    status: required(6, named('v1.ConditionStatus'), 'True, False or Unknown.'),
    reason: field(2, string, 'Why, as one CamelCase word.'),
    message: field(3, string, 'Why, in words.'),
    lastUpdateTime: always(4, time, 'When it was last updated.'),
    lastTransitionTime: always(5, time, 'When the status last changed.'),
  },
);
export type CertificateSigningRequestCondition = Infer<typeof CertificateSigningRequestCondition>;

export const CertificateSigningRequestStatus = object(
  'io.k8s.api.certificates.v1.CertificateSigningRequestStatus',
  'The decision on a request.',
  {
    conditions: field(1, mapListOf(CertificateSigningRequestCondition, 'type'), 'Approved, Denied or Failed.'),
    certificate: field(2, bytes, 'The certificate, as PEM in base64, once it is signed.'),
  },
);
export type CertificateSigningRequestStatus = Infer<typeof CertificateSigningRequestStatus>;

export const CertificateSigningRequest = kind(
  {
    name: 'io.k8s.api.certificates.v1.CertificateSigningRequest',
    group: 'certificates.k8s.io',
    version: 'v1',
    kind: 'CertificateSigningRequest',
    resource: 'certificatesigningrequests',
    namespaced: false,
    shortNames: ['csr'],
  },
  'Asks for a certificate.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    spec: required(2, CertificateSigningRequestSpec, 'The request. Cannot be changed.'),
    status: always(3, CertificateSigningRequestStatus, 'The decision, and the certificate.'),
  },
);
export type CertificateSigningRequest = Infer<typeof CertificateSigningRequest>;
