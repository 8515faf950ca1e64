import type { KindBehaviour } from '../../behaviour.ts';
import { defaultNetworkPolicy } from './network-policy.defaults.ts';
import { networkPolicyTable } from './network-policy.table.ts';
import { NetworkPolicy } from './network-policy.ts';
import { networkPolicyWarnings, validateNetworkPolicy, validateNetworkPolicyUpdate } from './network-policy.validation.ts';

export const networkPolicyBehaviour: KindBehaviour<NetworkPolicy> = {
  kind: NetworkPolicy,
  defaults: defaultNetworkPolicy,
  validate: validateNetworkPolicy,
  validateUpdate: validateNetworkPolicyUpdate,
  warnings: networkPolicyWarnings,
  table: networkPolicyTable,
};
