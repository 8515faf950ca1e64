import { autoscaling } from '#api';
import { type Conversion, type RegistryGroup, registryGroup } from '../generic/registry-group.ts';
import { horizontalPodAutoscalersStrategy, horizontalPodAutoscalersV1Strategy } from './horizontal-pod-autoscalers.ts';

export const AUTOSCALING: RegistryGroup = registryGroup(
  [horizontalPodAutoscalersStrategy, horizontalPodAutoscalersV1Strategy],
  [
    {
      from: 'autoscaling/v1/HorizontalPodAutoscaler',
      to: 'autoscaling/v2/HorizontalPodAutoscaler',
      toStored: autoscaling.toV2 as unknown as Conversion['toStored'],
      fromStored: autoscaling.toV1 as unknown as Conversion['fromStored'],
    },
  ],
);
