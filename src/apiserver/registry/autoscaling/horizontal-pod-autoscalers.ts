import { autoscaling, autoscalingV2 } from '#api';
import type { ResourceStrategy } from '../strategy.ts';

const RESET_FIELDS = { '': [['status']], status: [['spec']] } as const;

/** Autoscalers have no generation. */
export const horizontalPodAutoscalersStrategy: ResourceStrategy<autoscalingV2.HorizontalPodAutoscaler> = {
  ...autoscalingV2.horizontalPodAutoscalerBehaviour,
  hasStatus: true,
  resetFields: RESET_FIELDS,
};

/** The same objects in the first version of the API; stored in the second. */
export const horizontalPodAutoscalersV1Strategy: ResourceStrategy<autoscaling.HorizontalPodAutoscaler> = {
  ...autoscaling.horizontalPodAutoscalerBehaviour,
  hasStatus: true,
  resetFields: RESET_FIELDS,
};
