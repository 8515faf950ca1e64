import { LabelSelector } from '../../meta/v1/label-selector.ts';
import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import {
  always,
  field,
  type Infer,
  int32,
  int64,
  kind,
  listOf,
  mapListOf,
  object,
  pointer,
  quantity,
  required,
  string,
  time,
} from '../../schema.ts';

export const CrossVersionObjectReference = object('io.k8s.api.autoscaling.v2.CrossVersionObjectReference', 'Names what is scaled.', {
  kind: required(1, string, 'The kind.'),
  name: required(2, string, 'The name.'),
  apiVersion: field(3, string, 'The API version.'),
});
export type CrossVersionObjectReference = Infer<typeof CrossVersionObjectReference>;

export const MetricTarget = object('io.k8s.api.autoscaling.v2.MetricTarget', '', {
  type: required(1, string),
  value: pointer(2, quantity),
  averageValue: pointer(3, quantity),
  averageUtilization: pointer(4, int32),
});
export type MetricTarget = Infer<typeof MetricTarget>;

export const MetricIdentifier = object('io.k8s.api.autoscaling.v2.MetricIdentifier', '', {
  name: required(1, string, 'The name.'),
  selector: pointer(2, LabelSelector),
});
export type MetricIdentifier = Infer<typeof MetricIdentifier>;

export const ObjectMetricSource = object('io.k8s.api.autoscaling.v2.ObjectMetricSource', '', {
  describedObject: required(1, CrossVersionObjectReference),
  target: required(2, MetricTarget),
  metric: required(3, MetricIdentifier),
});
export type ObjectMetricSource = Infer<typeof ObjectMetricSource>;

export const PodsMetricSource = object('io.k8s.api.autoscaling.v2.PodsMetricSource', '', {
  metric: required(1, MetricIdentifier),
  target: required(2, MetricTarget),
});
export type PodsMetricSource = Infer<typeof PodsMetricSource>;

export const ResourceMetricSource = object('io.k8s.api.autoscaling.v2.ResourceMetricSource', '', {
  name: required(1, string, 'The name.'),
  target: required(2, MetricTarget),
});
export type ResourceMetricSource = Infer<typeof ResourceMetricSource>;

export const ContainerResourceMetricSource = object('io.k8s.api.autoscaling.v2.ContainerResourceMetricSource', '', {
  name: required(1, string, 'The name.'),
  target: required(2, MetricTarget),
  container: required(3, string),
});
export type ContainerResourceMetricSource = Infer<typeof ContainerResourceMetricSource>;

export const ExternalMetricSource = object('io.k8s.api.autoscaling.v2.ExternalMetricSource', '', {
  metric: required(1, MetricIdentifier),
  target: required(2, MetricTarget),
});
export type ExternalMetricSource = Infer<typeof ExternalMetricSource>;

export const MetricSpec = object('io.k8s.api.autoscaling.v2.MetricSpec', 'A measure to scale by.', {
  type: required(1, string, 'Which member is set: Object, Pods, Resource, ContainerResource or External.'),
  object: pointer(2, ObjectMetricSource, 'A measure of one object.'),
  pods: pointer(3, PodsMetricSource, 'A measure of each pod, averaged.'),
  resource: pointer(4, ResourceMetricSource, 'CPU or memory of the pods.'),
  containerResource: pointer(7, ContainerResourceMetricSource, 'CPU or memory of one container of each pod.'),
  external: pointer(5, ExternalMetricSource, 'A measure from outside the cluster.'),
});
export type MetricSpec = Infer<typeof MetricSpec>;

export const HPAScalingPolicy = object('io.k8s.api.autoscaling.v2.HPAScalingPolicy', '', {
  type: required(1, string),
  value: required(2, int32),
  periodSeconds: required(3, int32),
});
export type HPAScalingPolicy = Infer<typeof HPAScalingPolicy>;

export const HPAScalingRules = object('io.k8s.api.autoscaling.v2.HPAScalingRules', '', {
  stabilizationWindowSeconds: pointer(3, int32),
  selectPolicy: pointer(1, string),
  policies: field(2, listOf(HPAScalingPolicy)),
  tolerance: pointer(4, quantity),
});
export type HPAScalingRules = Infer<typeof HPAScalingRules>;

export const HorizontalPodAutoscalerBehavior = object('io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerBehavior', '', {
  scaleUp: pointer(1, HPAScalingRules),
  scaleDown: pointer(2, HPAScalingRules),
});
export type HorizontalPodAutoscalerBehavior = Infer<typeof HorizontalPodAutoscalerBehavior>;

export const HorizontalPodAutoscalerSpec = object(
  'io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerSpec',
  'What to scale, and by which measures.',
  {
    scaleTargetRef: required(1, CrossVersionObjectReference, 'What is scaled.'),
    minReplicas: pointer(2, int32, 'The fewest pods. 1 by default.'),
    maxReplicas: required(3, int32, 'The most pods.'),
    metrics: field(4, listOf(MetricSpec), 'The measures; that which wants the most pods decides.'),
    behavior: pointer(5, HorizontalPodAutoscalerBehavior, 'How fast to scale up and down.'),
  },
);
export type HorizontalPodAutoscalerSpec = Infer<typeof HorizontalPodAutoscalerSpec>;

export const MetricValueStatus = object('io.k8s.api.autoscaling.v2.MetricValueStatus', '', {
  value: pointer(1, quantity),
  averageValue: pointer(2, quantity),
  averageUtilization: pointer(3, int32),
});
export type MetricValueStatus = Infer<typeof MetricValueStatus>;

export const ObjectMetricStatus = object('io.k8s.api.autoscaling.v2.ObjectMetricStatus', '', {
  metric: required(1, MetricIdentifier),
  current: required(2, MetricValueStatus),
  describedObject: required(3, CrossVersionObjectReference),
});
export type ObjectMetricStatus = Infer<typeof ObjectMetricStatus>;

export const PodsMetricStatus = object('io.k8s.api.autoscaling.v2.PodsMetricStatus', '', {
  metric: required(1, MetricIdentifier),
  current: required(2, MetricValueStatus),
});
export type PodsMetricStatus = Infer<typeof PodsMetricStatus>;

export const ResourceMetricStatus = object('io.k8s.api.autoscaling.v2.ResourceMetricStatus', '', {
  name: required(1, string, 'The name.'),
  current: required(2, MetricValueStatus),
});
export type ResourceMetricStatus = Infer<typeof ResourceMetricStatus>;

export const ContainerResourceMetricStatus = object('io.k8s.api.autoscaling.v2.ContainerResourceMetricStatus', '', {
  name: required(1, string, 'The name.'),
  current: required(2, MetricValueStatus),
  container: required(3, string),
});
export type ContainerResourceMetricStatus = Infer<typeof ContainerResourceMetricStatus>;

export const ExternalMetricStatus = object('io.k8s.api.autoscaling.v2.ExternalMetricStatus', '', {
  metric: required(1, MetricIdentifier),
  current: required(2, MetricValueStatus),
});
export type ExternalMetricStatus = Infer<typeof ExternalMetricStatus>;

export const MetricStatus = object('io.k8s.api.autoscaling.v2.MetricStatus', '', {
  type: required(1, string),
  object: pointer(2, ObjectMetricStatus),
  pods: pointer(3, PodsMetricStatus),
  resource: pointer(4, ResourceMetricStatus),
  containerResource: pointer(7, ContainerResourceMetricStatus),
  external: pointer(5, ExternalMetricStatus),
});
export type MetricStatus = Infer<typeof MetricStatus>;

export const HorizontalPodAutoscalerCondition = object('io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerCondition', '', {
  type: required(1, string, 'The type of finding.'),
  status: required(2, string, 'True, False or Unknown.'),
  lastTransitionTime: always(3, time, 'When the status last changed.'),
  reason: field(4, string, 'Why, as one CamelCase word.'),
  message: field(5, string, 'Why, in words.'),
});
export type HorizontalPodAutoscalerCondition = Infer<typeof HorizontalPodAutoscalerCondition>;

export const HorizontalPodAutoscalerStatus = object(
  'io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerStatus',
  'What the autoscaler sees and does.',
  {
    observedGeneration: pointer(1, int64, 'The generation that this status is about.'),
    lastScaleTime: pointer(2, time, 'When it last changed the number of pods.'),
    currentReplicas: field(3, int32, 'How many pods there are.'),
    desiredReplicas: required(4, int32, 'How many pods it wants.'),
    currentMetrics: always(5, listOf(MetricStatus), 'The measures as last read.'),
    conditions: field(6, mapListOf(HorizontalPodAutoscalerCondition, 'type'), 'Whether it can scale, does scale, and is at a bound.', {
      merge: 'type',
    }),
  },
);
export type HorizontalPodAutoscalerStatus = Infer<typeof HorizontalPodAutoscalerStatus>;

export const HorizontalPodAutoscaler = kind(
  {
    name: 'io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler',
    group: 'autoscaling',
    version: 'v2',
    kind: 'HorizontalPodAutoscaler',
    resource: 'horizontalpodautoscalers',
    namespaced: true,
    shortNames: ['hpa'],
    categories: ['all'],
  },
  'Changes the number of pods with their load.',
  {
    metadata: always(1, ObjectMeta, 'Standard object metadata.'),
    spec: always(2, HorizontalPodAutoscalerSpec, 'What is wanted.', { required: true }),
    status: always(3, HorizontalPodAutoscalerStatus, 'What is the case, as last reported. Set by the system.'),
  },
);
export type HorizontalPodAutoscaler = Infer<typeof HorizontalPodAutoscaler>;
