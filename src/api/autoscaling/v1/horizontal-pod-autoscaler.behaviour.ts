import type { KindBehaviour } from '../../behaviour.ts';
import { fillUnset, withField } from '../../defaulting.ts';
import { horizontalPodAutoscalerTable } from '../v2/horizontal-pod-autoscaler.behaviour.ts';
import {
  validateHorizontalPodAutoscaler,
  validateHorizontalPodAutoscalerStatusUpdate,
  validateHorizontalPodAutoscalerUpdate,
} from '../v2/horizontal-pod-autoscaler.validation.ts';
import { cpuTargetOf, toV2 } from './horizontal-pod-autoscaler.conversion.ts';
import { HorizontalPodAutoscaler, type HorizontalPodAutoscalerSpec } from './horizontal-pod-autoscaler.ts';

/** The metric that v2 derives belongs to the client: a v1 write without metrics owns the default CPU target. */
function defaultHorizontalPodAutoscaler(autoscaler: HorizontalPodAutoscaler): HorizontalPodAutoscaler {
  const target = cpuTargetOf(autoscaler);
  const values = { minReplicas: 1, ...(target !== undefined && { targetCPUUtilizationPercentage: target }) };
  return withField(autoscaler, 'spec', fillUnset(autoscaler.spec ?? ({} as HorizontalPodAutoscalerSpec), values));
}

/** v1 is validated and printed as the v2 object it converts to, so errors name the fields of v2. */
export const horizontalPodAutoscalerBehaviour: KindBehaviour<HorizontalPodAutoscaler> = {
  kind: HorizontalPodAutoscaler,
  defaults: defaultHorizontalPodAutoscaler,
  validate: (autoscaler) => validateHorizontalPodAutoscaler(toV2(autoscaler)),
  validateUpdate: (autoscaler, old) => validateHorizontalPodAutoscalerUpdate(toV2(autoscaler), toV2(old)),
  validateStatusUpdate: (autoscaler, old) => validateHorizontalPodAutoscalerStatusUpdate(toV2(autoscaler), toV2(old)),
  table: {
    ...horizontalPodAutoscalerTable,
    cells: (autoscaler, now) => horizontalPodAutoscalerTable.cells(toV2(autoscaler), now),
  },
};
