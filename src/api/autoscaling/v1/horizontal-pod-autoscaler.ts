import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, atomic, field, type Infer, int32, int64, kind, object, pointer, required, string, time } from '../../schema.ts';

export const CrossVersionObjectReference = atomic(
  object('io.k8s.api.autoscaling.v1.CrossVersionObjectReference', '', {
    kind: required(1, string),
    name: required(2, string),
    apiVersion: field(3, string),
  }),
);
export type CrossVersionObjectReference = Infer<typeof CrossVersionObjectReference>;

export const HorizontalPodAutoscalerSpec = object('io.k8s.api.autoscaling.v1.HorizontalPodAutoscalerSpec', '', {
  scaleTargetRef: required(1, CrossVersionObjectReference),
  minReplicas: pointer(2, int32),
  maxReplicas: required(3, int32),
  targetCPUUtilizationPercentage: pointer(4, int32),
});
export type HorizontalPodAutoscalerSpec = Infer<typeof HorizontalPodAutoscalerSpec>;

export const HorizontalPodAutoscalerStatus = object('io.k8s.api.autoscaling.v1.HorizontalPodAutoscalerStatus', '', {
  observedGeneration: pointer(1, int64),
  lastScaleTime: pointer(2, time),
  currentReplicas: required(3, int32),
  desiredReplicas: required(4, int32),
  currentCPUUtilizationPercentage: pointer(5, int32),
});
export type HorizontalPodAutoscalerStatus = Infer<typeof HorizontalPodAutoscalerStatus>;

export const HorizontalPodAutoscaler = kind(
  {
    name: 'io.k8s.api.autoscaling.v1.HorizontalPodAutoscaler',
    group: 'autoscaling',
    version: 'v1',
    kind: 'HorizontalPodAutoscaler',
    resource: 'horizontalpodautoscalers',
    namespaced: true,
    shortNames: ['hpa'],
    categories: ['all'],
  },
  '',
  {
    metadata: always(1, ObjectMeta),
    spec: always(2, HorizontalPodAutoscalerSpec, '', { required: true }),
    status: always(3, HorizontalPodAutoscalerStatus),
  },
);
export type HorizontalPodAutoscaler = Infer<typeof HorizontalPodAutoscaler>;
