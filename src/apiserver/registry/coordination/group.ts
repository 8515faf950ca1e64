import { coordinationV1alpha2, coordinationV1beta1 } from '#api';
import { type RegistryGroup, registryGroup, versionOf, withVersions } from '../generic/registry-group.ts';
import type { ResourceStrategy } from '../generic/strategy.ts';
import { leasesStrategy } from './leases.ts';

const leaseCandidatesStrategy: ResourceStrategy<coordinationV1beta1.LeaseCandidate> = {
  ...coordinationV1beta1.leaseCandidateBehaviour,
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
};

export const COORDINATION: RegistryGroup = withVersions(
  registryGroup([leasesStrategy, leaseCandidatesStrategy]),
  versionOf(leaseCandidatesStrategy, coordinationV1alpha2.LeaseCandidate),
);
