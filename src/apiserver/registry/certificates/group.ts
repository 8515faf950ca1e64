import { certificatesV1alpha1, certificatesV1beta1 } from '#api';
import { keepMetadata } from '../generic/keep-metadata.ts';
import { type RegistryGroup, registryGroup, versionOf, withVersions } from '../generic/registry-group.ts';
import type { ResourceStrategy } from '../generic/strategy.ts';
import { certificateSigningRequestsStrategy } from './certificate-signing-requests.ts';

const clusterTrustBundlesStrategy: ResourceStrategy<certificatesV1beta1.ClusterTrustBundle> = {
  ...certificatesV1beta1.clusterTrustBundleBehaviour,
  allowUnconditionalUpdate: false,
};

const podCertificateRequestsStrategy: ResourceStrategy<certificatesV1beta1.PodCertificateRequest> = {
  ...certificatesV1beta1.podCertificateRequestBehaviour,
  allowUnconditionalUpdate: false,
  hasStatus: true,
  prepareForStatusUpdate: keepMetadata,
  fieldLabelError: (field) => `field label not supported: ${field}`,
  resetFields: { status: [['spec']] },
};

export const CERTIFICATES: RegistryGroup = withVersions(
  registryGroup([certificateSigningRequestsStrategy, clusterTrustBundlesStrategy, podCertificateRequestsStrategy]),
  versionOf(clusterTrustBundlesStrategy, certificatesV1alpha1.ClusterTrustBundle),
);
