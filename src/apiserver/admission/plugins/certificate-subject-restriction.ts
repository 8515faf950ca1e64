import { certificates } from '#api';
import { PRIVILEGED_GROUP } from '../../authn/user.ts';
import type { AdmissionPlugin } from '../admission.ts';
import { type CertificateSigningRequest, isSigningRequest, refuseRequest } from './certificate-request.ts';

const CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client';

/** Nobody gets a certificate for the group that may do everything. */
export function certificateSubjectRestriction(): AdmissionPlugin {
  return {
    name: 'CertificateSubjectRestriction',
    operations: ['CREATE'],
    resources: ['certificatesigningrequests.certificates.k8s.io'],
    validate(attributes) {
      if (!isSigningRequest(attributes, '')) return;
      const { signerName, request } = (attributes.object as CertificateSigningRequest).spec;
      if (signerName !== CLIENT_SIGNER || !organizationsIn(request).includes(PRIVILEGED_GROUP)) return;
      throw refuseRequest(attributes, `use of ${CLIENT_SIGNER} signer with ${PRIVILEGED_GROUP} group is not allowed`);
    },
  };
}

function organizationsIn(request: string): readonly string[] {
  return certificates.parseCertificateRequest(Buffer.from(request, 'base64').toString('utf8')).organizations;
}
