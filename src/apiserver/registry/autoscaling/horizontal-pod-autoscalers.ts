import { autoscaling, autoscalingV2 } from '#api';
import type { ResourceStrategy } from '../generic/strategy.ts';

const RESET_FIELDS = { '': [['status']], status: [['spec']] } as const;

/** Autoscalers have no generation. */
export const horizontalPodAutoscalersStrategy: ResourceStrategy<autoscalingV2.HorizontalPodAutoscaler> = {
  ...autoscalingV2.horizontalPodAutoscalerBehaviour,
  hasStatus: true,
  resetFields: RESET_FIELDS,
};

/** autoscaling/v1; stored as v2. */
export const horizontalPodAutoscalersV1Strategy: ResourceStrategy<autoscaling.HorizontalPodAutoscaler> = {
  ...autoscaling.horizontalPodAutoscalerBehaviour,
  hasStatus: true,
  resetFields: RESET_FIELDS,
};
