import type { KindBehaviour } from '../../behaviour.ts';
import { fillUnset, withField } from '../../defaulting.ts';
import { horizontalPodAutoscalerTable } from '../v2/horizontal-pod-autoscaler.behaviour.ts';
import {
  validateHorizontalPodAutoscaler,
  validateHorizontalPodAutoscalerStatusUpdate,
  validateHorizontalPodAutoscalerUpdate,
} from '../v2/horizontal-pod-autoscaler.validation.ts';
import { toV2 } from './horizontal-pod-autoscaler.conversion.ts';
import { HorizontalPodAutoscaler, type HorizontalPodAutoscalerSpec } from './horizontal-pod-autoscaler.ts';

/** Version 1 is validated and printed as the version 2 that it stands for, so errors name the fields of version 2. */
export const horizontalPodAutoscalerBehaviour: KindBehaviour<HorizontalPodAutoscaler> = {
  kind: HorizontalPodAutoscaler,
  defaults: (autoscaler) =>
    withField(autoscaler, 'spec', fillUnset(autoscaler.spec ?? ({} as HorizontalPodAutoscalerSpec), { minReplicas: 1 })),
  validate: (autoscaler) => validateHorizontalPodAutoscaler(toV2(autoscaler)),
  validateUpdate: (autoscaler, old) => validateHorizontalPodAutoscalerUpdate(toV2(autoscaler), toV2(old)),
  validateStatusUpdate: (autoscaler, old) => validateHorizontalPodAutoscalerStatusUpdate(toV2(autoscaler), toV2(old)),
  table: {
    ...horizontalPodAutoscalerTable,
    cells: (autoscaler, now) => horizontalPodAutoscalerTable.cells(toV2(autoscaler), now),
  },
};
