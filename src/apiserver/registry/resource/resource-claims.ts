import { resource } from '#api';
import { keepMetadata } from '../generic/keep-metadata.ts';
import type { ResourceStrategy } from '../generic/strategy.ts';

/** The status of deallocated devices is dropped. */
function dropFreedDevices(claim: resource.ResourceClaim, old: resource.ResourceClaim): resource.ResourceClaim {
  const { devices, ...status } = claim.status ?? {};
  if (!devices) return claim;
  const freed = new Set((old.status?.allocation?.devices?.results ?? []).map(resource.deviceKey));
  for (const result of status.allocation?.devices?.results ?? []) freed.delete(resource.deviceKey(result));
  const remaining = devices.filter((device) => !freed.has(resource.deviceKey(device)));
  return { ...claim, status: remaining.length === 0 ? status : { ...status, devices: remaining } };
}

function canonicalize(claim: resource.ResourceClaim): resource.ResourceClaim {
  const { allocation } = claim.status ?? {};
  const allocated = allocation?.devices?.results;
  const results = allocated && resource.withoutEmptyConditions(allocated);
  if (results === allocated) return claim;
  const devices = { ...allocation?.devices, results };
  return { ...claim, status: { ...claim.status, allocation: { ...allocation, devices } } } as resource.ResourceClaim;
}

export const resourceClaimsStrategy: ResourceStrategy<resource.ResourceClaim> = {
  ...resource.resourceClaimBehaviour,
  hasStatus: true,
  canonicalize,
  prepareForStatusUpdate: (claim, old) => dropFreedDevices(keepMetadata(claim, old), old),
  resetFields: { '': [['status']], status: [['metadata'], ['spec']] },
  returnsDeletedObject: true,
};

export const resourceClaimTemplatesStrategy: ResourceStrategy<resource.ResourceClaimTemplate> = {
  ...resource.resourceClaimTemplateBehaviour,
  returnsDeletedObject: true,
};
