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
  object,
  pointer,
  required,
  string,
  time,
} from '../../schema.ts';

export const CertificateSigningRequestSpec = object('io.k8s.api.certificates.v1.CertificateSigningRequestSpec', '', {
  request: required(1, bytes),
  signerName: required(7, string),
  expirationSeconds: pointer(8, int32),
  usages: field(5, listOf(string)),
  username: field(2, string),
  uid: field(3, string),
  groups: field(4, listOf(string)),
  extra: field(6, mapOf(listOf(string))),
});
export type CertificateSigningRequestSpec = Infer<typeof CertificateSigningRequestSpec>;

export const CertificateSigningRequestCondition = object('io.k8s.api.certificates.v1.CertificateSigningRequestCondition', '', {
  type: required(1, string),
  status: required(6, string),
  reason: field(2, string),
  message: field(3, string),
  lastUpdateTime: always(4, time),
  lastTransitionTime: always(5, time),
});
export type CertificateSigningRequestCondition = Infer<typeof CertificateSigningRequestCondition>;

export const CertificateSigningRequestStatus = object('io.k8s.api.certificates.v1.CertificateSigningRequestStatus', '', {
  conditions: field(1, mapListOf(CertificateSigningRequestCondition, 'type')),
  certificate: field(2, bytes),
});
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
  '',
  {
    metadata: always(1, ObjectMeta),
    spec: required(2, CertificateSigningRequestSpec),
    status: always(3, CertificateSigningRequestStatus),
  },
);
export type CertificateSigningRequest = Infer<typeof CertificateSigningRequest>;
