import { goQuote } from '#machinery';
import type { Authorizer } from '../../authz/authorizer.ts';
import type { AdmissionPlugin } from '../admission.ts';
import { type CertificateSigningRequest, isAllowedForSigner, isSigningRequest, refuseRequest } from './certificate-request.ts';

/** Who approves a signing request must be allowed to approve for its signer. */
export function certificateApproval(authorizer: Authorizer): AdmissionPlugin {
  return {
    name: 'CertificateApproval',
    operations: ['UPDATE'],
    resources: ['certificatesigningrequests.certificates.k8s.io'],
    async validate(attributes) {
      if (!isSigningRequest(attributes, 'approval')) return;
      // The signer as it was: an update cannot choose one that its author may approve for.
      const { signerName } = (attributes.oldObject as CertificateSigningRequest).spec;
      const right = { user: attributes.user, verb: 'approve', signerName } as const;
      if (await isAllowedForSigner(authorizer, right)) return;
      throw refuseRequest(attributes, `user not permitted to approve requests with signerName ${goQuote(signerName)}`);
    },
  };
}
