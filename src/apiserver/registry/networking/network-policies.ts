import { networking } from '#api';
import type { ResourceStrategy } from '../generic/strategy.ts';

export const networkPoliciesStrategy: ResourceStrategy<networking.NetworkPolicy> = {
  ...networking.networkPolicyBehaviour,
  tracksGeneration: true,
};
