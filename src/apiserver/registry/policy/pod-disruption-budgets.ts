import { policy } from '#api';
import type { ResourceStrategy } from '../generic/strategy.ts';

export const podDisruptionBudgetsStrategy: ResourceStrategy<policy.PodDisruptionBudget> = {
  ...policy.podDisruptionBudgetBehaviour,
  hasStatus: true,
  tracksGeneration: true,
  allowUnconditionalUpdate: false,
  resetFields: { '': [['status']], status: [['spec']] },
};
