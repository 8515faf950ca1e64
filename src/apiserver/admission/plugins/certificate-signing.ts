import { goQuote, type JsonValue, semanticEqual } from '#machinery';
import type { Authorizer } from '../../authz/authorizer.ts';
import type { AdmissionPlugin } from '../admission.ts';
import { type CertificateSigningRequest, forbiddenRequest, isAllowedForSigner, isSigningRequest } from './certificate-request.ts';

/** Setting a certificate or a condition requires `sign` on the signer. */
export function certificateSigning(authorizer: Authorizer): AdmissionPlugin {
  return {
    name: 'CertificateSigning',
    operations: ['UPDATE'],
    resources: ['certificatesigningrequests.certificates.k8s.io'],
    async validate(attributes) {
      if (!isSigningRequest(attributes, 'status')) return;
      const old = attributes.oldObject as CertificateSigningRequest;
      if (hasSameResult(old, attributes.object as CertificateSigningRequest)) return;
      const { signerName } = old.spec;
      if (await isAllowedForSigner(authorizer, { user: attributes.user, verb: 'sign', signerName })) return;
      throw forbiddenRequest(attributes, `user not permitted to sign requests with signerName ${goQuote(signerName)}`);
    },
  };
}

function hasSameResult({ status: old }: CertificateSigningRequest, { status }: CertificateSigningRequest): boolean {
  const conditions = (value: typeof status) => (value?.conditions ?? []) as unknown as JsonValue;
  return (old?.certificate ?? '') === (status?.certificate ?? '') && semanticEqual(conditions(old), conditions(status));
}
