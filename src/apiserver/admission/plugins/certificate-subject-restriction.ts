import { certificates } from '#api';
import { DerError } from '#base';
import { PRIVILEGED_GROUP } from '../../request/user.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import { type CertificateSigningRequest, forbiddenRequest, isSigningRequest } from './certificate-request.ts';

const CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client';

/** Rejects certificate requests for the group system:masters. */
export function certificateSubjectRestriction(): AdmissionPlugin {
  return {
    name: 'CertificateSubjectRestriction',
    operations: ['CREATE'],
    resources: ['certificatesigningrequests.certificates.k8s.io'],
    validate(attributes) {
      if (!isSigningRequest(attributes, '')) return;
      const { signerName, request } = (attributes.object as CertificateSigningRequest).spec;
      if (signerName !== CLIENT_SIGNER || !organizationsIn(attributes, request).includes(PRIVILEGED_GROUP)) return;
      throw forbiddenRequest(attributes, `use of ${CLIENT_SIGNER} signer with ${PRIVILEGED_GROUP} group is not allowed`);
    },
  };
}

function organizationsIn(attributes: AdmissionAttributes, request: string): readonly string[] {
  try {
    return certificates.readSigningRequest(request).subject.organizations;
  } catch (error) {
    if (error instanceof DerError) throw forbiddenRequest(attributes, `failed to parse CSR: ${error.message}`);
    throw error;
  }
}
