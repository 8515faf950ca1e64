import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, atomic, field, type Infer, int32, int64, kind, object, pointer, required, string, time } from '../../schema.ts';

export const CrossVersionObjectReference = atomic(
  object('io.k8s.api.autoscaling.v1.CrossVersionObjectReference', 'Names what is scaled.', {
    kind: required(1, string, 'The kind.'),
    name: required(2, string, 'The name.'),
    apiVersion: field(3, string, 'The API version.'),
  }),
);
export type CrossVersionObjectReference = Infer<typeof CrossVersionObjectReference>;

export const HorizontalPodAutoscalerSpec = object('io.k8s.api.autoscaling.v1.HorizontalPodAutoscalerSpec', 'What to scale.', {
  scaleTargetRef: required(1, CrossVersionObjectReference, 'What is scaled.'),
  minReplicas: pointer(2, int32, 'The fewest pods. 1 by default.'),
  maxReplicas: required(3, int32, 'The most pods.'),
  targetCPUUtilizationPercentage: pointer(4, int32, 'The use of CPU to aim at, as a percentage of what pods request.'),
});
export type HorizontalPodAutoscalerSpec = Infer<typeof HorizontalPodAutoscalerSpec>;

export const HorizontalPodAutoscalerStatus = object(
  'io.k8s.api.autoscaling.v1.HorizontalPodAutoscalerStatus',
  'What the autoscaler sees and does.',
  {
    observedGeneration: pointer(1, int64, 'The generation that this status is about.'),
    lastScaleTime: pointer(2, time, 'When it last changed the number of pods.'),
    currentReplicas: required(3, int32, 'How many pods there are.'),
    desiredReplicas: required(4, int32, 'The desired number of pods.'),
    currentCPUUtilizationPercentage: pointer(5, int32, 'The use of CPU, as a percentage of what pods request.'),
  },
);
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
  'Changes the number of pods with their use of CPU.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    spec: always(2, HorizontalPodAutoscalerSpec, 'What is wanted.', { required: true }),
    status: always(3, HorizontalPodAutoscalerStatus, 'What is the case, as last reported. Set by the system.'),
  },
);
export type HorizontalPodAutoscaler = Infer<typeof HorizontalPodAutoscaler>;
