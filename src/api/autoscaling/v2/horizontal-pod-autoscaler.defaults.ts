import { fillUnset, mapField, withField } from '../../defaulting.ts';
import type {
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerBehavior,
  HorizontalPodAutoscalerSpec,
  HPAScalingRules,
  MetricSpec,
} from './horizontal-pod-autoscaler.ts';

const DEFAULT_CPU_UTILIZATION = 80;

const SCALE_UP: HPAScalingRules = {
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ],
};
const SCALE_DOWN: HPAScalingRules = { selectPolicy: 'Max', policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }] };

export function defaultHorizontalPodAutoscaler(autoscaler: HorizontalPodAutoscaler): HorizontalPodAutoscaler {
  let spec = fillUnset(autoscaler.spec ?? ({} as HorizontalPodAutoscalerSpec), { minReplicas: 1 });
  if (!spec.metrics?.length) spec = withField(spec, 'metrics', [cpuMetric(DEFAULT_CPU_UTILIZATION)]);
  return withField(autoscaler, 'spec', mapField(spec, 'behavior', defaultBehavior));
}

/** The default metric: CPU utilization, the only one of v1. */
export function cpuMetric(averageUtilization: number = DEFAULT_CPU_UTILIZATION): MetricSpec {
  return { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } } };
}

function defaultBehavior(behavior: HorizontalPodAutoscalerBehavior): HorizontalPodAutoscalerBehavior {
  const up = withField(behavior, 'scaleUp', fillUnset(behavior.scaleUp ?? {}, SCALE_UP));
  return withField(up, 'scaleDown', fillUnset(behavior.scaleDown ?? {}, SCALE_DOWN));
}
