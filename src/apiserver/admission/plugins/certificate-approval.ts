import { goQuote } from '#machinery';
import type { Authorizer } from '../../authz/authorizer.ts';
import type { AdmissionPlugin } from '../admission.ts';
import { type CertificateSigningRequest, forbiddenRequest, isAllowedForSigner, isSigningRequest } from './certificate-request.ts';

/** Approving a certificate signing request requires `approve` on its signer. */
export function certificateApproval(authorizer: Authorizer): AdmissionPlugin {
  return {
    name: 'CertificateApproval',
    operations: ['UPDATE'],
    resources: ['certificatesigningrequests.certificates.k8s.io'],
    async validate(attributes) {
      if (!isSigningRequest(attributes, 'approval')) return;
      // The old object's signer: an update must not choose one that its author may approve for.
      const { signerName } = (attributes.oldObject as CertificateSigningRequest).spec;
      const right = { user: attributes.user, verb: 'approve', signerName } as const;
      if (await isAllowedForSigner(authorizer, right)) return;
      throw forbiddenRequest(attributes, `user not permitted to approve requests with signerName ${goQuote(signerName)}`);
    },
  };
}
