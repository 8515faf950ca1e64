import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, field, type Infer, kind, object, required, string } from '../../schema.ts';

export const ClusterTrustBundleSpec = object('io.k8s.api.certificates.v1beta1.ClusterTrustBundleSpec', 'Whom to trust.', {
  signerName: field(1, string, 'The signer whose certificates the bundle verifies, if it is for one. Cannot be changed.'),
  trustBundle: required(2, string, 'Certificates of authorities, as PEM.'),
});
export type ClusterTrustBundleSpec = Infer<typeof ClusterTrustBundleSpec>;

export const ClusterTrustBundle = kind(
  {
    name: 'io.k8s.api.certificates.v1beta1.ClusterTrustBundle',
    group: 'certificates.k8s.io',
    version: 'v1beta1',
    kind: 'ClusterTrustBundle',
    resource: 'clustertrustbundles',
    namespaced: false,
    lifecycle: { introduced: '1.33', deprecated: '1.37', removed: '1.40' },
    featureGate: 'ClusterTrustBundle',
  },
  'Certificates of authorities that everybody in the cluster may read.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    spec: required(2, ClusterTrustBundleSpec, 'The certificates, and what they are for.'),
  },
);
export type ClusterTrustBundle = Infer<typeof ClusterTrustBundle>;
