import { coordination } from '#api';
import type { ResourceStrategy } from '../generic/strategy.ts';

/** Coordinated leader election is off: its fields are dropped unless they are stored already. */
function dropElection(lease: coordination.Lease, old?: coordination.Lease): coordination.Lease {
  const { strategy, preferredHolder, ...spec } = lease.spec ?? {};
  if (strategy === undefined && preferredHolder === undefined) return lease;
  const keepsStrategy = strategy !== undefined && old?.spec?.strategy !== undefined;
  const keepsHolder = preferredHolder !== undefined && old?.spec?.preferredHolder !== undefined;
  return { ...lease, spec: { ...spec, ...(keepsStrategy && { strategy }), ...(keepsHolder && { preferredHolder }) } };
}

export const leasesStrategy: ResourceStrategy<coordination.Lease> = {
  ...coordination.leaseBehaviour,
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  prepareForCreate: (lease) => dropElection(lease),
  prepareForUpdate: (lease, old) => dropElection(lease, old),
};
