import type { certificatesV1beta1 } from '#api';
import { goQuote, type JsonValue, StatusError, semanticEqual } from '#machinery';
import type { Authorizer } from '../../authz/authorizer.ts';
import type { AdmissionPlugin } from '../admission.ts';
import { isAllowedForSigner } from './certificate-request.ts';

type Bundle = certificatesV1beta1.ClusterTrustBundle;

const RESOURCE = { group: 'certificates.k8s.io', resource: 'clustertrustbundles' };

/** A bundle for a signer requires `attest` on the signer; migrations and the garbage collector write it as it is. */
export function clusterTrustBundleAttest(authorizer: Authorizer): AdmissionPlugin {
  return {
    name: 'ClusterTrustBundleAttest',
    operations: ['CREATE', 'UPDATE'],
    resources: ['clustertrustbundles.certificates.k8s.io'],
    async validate({ object, oldObject, operation, user, name }) {
      const { signerName = '' } = (object as Bundle).spec;
      if (signerName === '') return;
      if (operation === 'UPDATE' && isSameButForOwners(object as Bundle, oldObject as Bundle)) return;
      if (await isAllowedForSigner(authorizer, { user, verb: 'attest', signerName })) return;
      throw StatusError.forbidden(RESOURCE, name, `user not permitted to attest for signerName ${goQuote(signerName)}`);
    },
  };
}

function isSameButForOwners(bundle: Bundle, old: Bundle): boolean {
  const compared = ({ spec, metadata }: Bundle) => {
    const { ownerReferences: _, finalizers: __, managedFields: ___, resourceVersion: ____, ...meta } = metadata;
    return { spec, meta } as unknown as JsonValue;
  };
  return semanticEqual(compared(bundle), compared(old));
}
