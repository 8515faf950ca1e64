import { resource } from '#api';
import { withKeptMetadata } from '../kept-metadata.ts';
import type { ResourceStrategy } from '../strategy.ts';

/** What drivers said of devices goes when the devices go. */
function dropFreedDevices(claim: resource.ResourceClaim, old: resource.ResourceClaim): resource.ResourceClaim {
  const { devices, ...status } = claim.status ?? {};
  if (!devices) return claim;
  const freed = new Set((old.status?.allocation?.devices?.results ?? []).map(resource.deviceKey));
  for (const result of status.allocation?.devices?.results ?? []) freed.delete(resource.deviceKey(result));
  const kept = devices.filter((device) => !freed.has(resource.deviceKey(device)));
  return { ...claim, status: kept.length === 0 ? status : { ...status, devices: kept } };
}

function canonicalize(claim: resource.ResourceClaim): resource.ResourceClaim {
  const { allocation } = claim.status ?? {};
  const given = allocation?.devices?.results;
  const results = given && resource.withoutEmptyConditions(given);
  if (results === given) return claim;
  const devices = { ...allocation?.devices, results };
  return { ...claim, status: { ...claim.status, allocation: { ...allocation, devices } } } as resource.ResourceClaim;
}

export const resourceClaimsStrategy: ResourceStrategy<resource.ResourceClaim> = {
  ...resource.resourceClaimBehaviour,
  hasStatus: true,
  canonicalize,
  prepareForStatusUpdate: (claim, old) => dropFreedDevices(withKeptMetadata(claim, old), old),
  resetFields: { '': [['status']], status: [['metadata'], ['spec']] },
};

export const resourceClaimTemplatesStrategy: ResourceStrategy<resource.ResourceClaimTemplate> = resource.resourceClaimTemplateBehaviour;
