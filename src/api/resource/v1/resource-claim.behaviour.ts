import type { KindBehaviour } from '../../behaviour.ts';
import { resourceClaimTable } from './resource.table.ts';
import { defaultResourceClaim } from './resource-claim.defaults.ts';
import { ResourceClaim } from './resource-claim.ts';
import { validateResourceClaim, validateResourceClaimStatus, validateResourceClaimUpdate } from './resource-claim.validation.ts';

export const resourceClaimBehaviour: KindBehaviour<ResourceClaim> = {
  kind: ResourceClaim,
  defaults: defaultResourceClaim,
  validate: validateResourceClaim,
  validateUpdate: validateResourceClaimUpdate,
  validateStatusUpdate: validateResourceClaimStatus,
  table: resourceClaimTable,
};
