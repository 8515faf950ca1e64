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
  named,
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

export const MetricTarget = object('io.k8s.api.autoscaling.v2.MetricTarget', 'The value to aim at.', {
  type: required(1, named('v2.MetricTargetType'), 'Which member is set: Utilization, Value or AverageValue.'),
  value: pointer(2, quantity, 'The value.'),
  averageValue: pointer(3, quantity, 'The value for each pod.'),
  averageUtilization: pointer(4, int32, 'The percentage of what pods request.'),
});
export type MetricTarget = Infer<typeof MetricTarget>;

export const MetricIdentifier = object('io.k8s.api.autoscaling.v2.MetricIdentifier', 'A measure.', {
  name: required(1, string, 'The name.'),
  selector: pointer(2, LabelSelector, 'Labels of the measure.'),
});
export type MetricIdentifier = Infer<typeof MetricIdentifier>;

export const ObjectMetricSource = object('io.k8s.api.autoscaling.v2.ObjectMetricSource', 'A measure of one object.', {
  describedObject: required(1, CrossVersionObjectReference, 'The object.'),
  target: required(2, MetricTarget, 'The value to aim at.'),
  metric: required(3, MetricIdentifier, 'The measure.'),
});
export type ObjectMetricSource = Infer<typeof ObjectMetricSource>;

export const PodsMetricSource = object('io.k8s.api.autoscaling.v2.PodsMetricSource', 'A measure of each pod, averaged.', {
  metric: required(1, MetricIdentifier, 'The measure.'),
  target: required(2, MetricTarget, 'The value to aim at.'),
});
export type PodsMetricSource = Infer<typeof PodsMetricSource>;

export const ResourceMetricSource = object('io.k8s.api.autoscaling.v2.ResourceMetricSource', 'CPU or memory of the pods.', {
  name: required(1, named('v1.ResourceName'), 'The name.'),
  target: required(2, MetricTarget, 'The value to aim at.'),
});
export type ResourceMetricSource = Infer<typeof ResourceMetricSource>;

export const ContainerResourceMetricSource = object(
  'io.k8s.api.autoscaling.v2.ContainerResourceMetricSource',
  'CPU or memory of one container of each pod.',
  {
    name: required(1, named('v1.ResourceName'), 'The name.'),
    target: required(2, MetricTarget, 'The value to aim at.'),
    container: required(3, string, 'The container.'),
  },
);
export type ContainerResourceMetricSource = Infer<typeof ContainerResourceMetricSource>;

export const ExternalMetricSource = object('io.k8s.api.autoscaling.v2.ExternalMetricSource', 'A measure from outside the cluster.', {
  metric: required(1, MetricIdentifier, 'The measure.'),
  target: required(2, MetricTarget, 'The value to aim at.'),
});
export type ExternalMetricSource = Infer<typeof ExternalMetricSource>;

export const MetricSpec = object('io.k8s.api.autoscaling.v2.MetricSpec', 'A measure to scale by.', {
  type: required(1, named('v2.MetricSourceType'), 'Which member is set: Object, Pods, Resource, ContainerResource or External.'),
  object: pointer(2, ObjectMetricSource, 'A measure of one object.'),
  pods: pointer(3, PodsMetricSource, 'A measure of each pod, averaged.'),
  resource: pointer(4, ResourceMetricSource, 'CPU or memory of the pods.'),
  containerResource: pointer(7, ContainerResourceMetricSource, 'CPU or memory of one container of each pod.'),
  external: pointer(5, ExternalMetricSource, 'A measure from outside the cluster.'),
});
export type MetricSpec = Infer<typeof MetricSpec>;

export const HPAScalingPolicy = object('io.k8s.api.autoscaling.v2.HPAScalingPolicy', 'How much may change in how long.', {
  type: required(1, named('v2.HPAScalingPolicyType'), 'Pods or Percent.'),
  value: required(2, int32, 'How much.'),
  periodSeconds: required(3, int32, 'In how long, up to 1800.'),
});
export type HPAScalingPolicy = Infer<typeof HPAScalingPolicy>;

export const HPAScalingRules = object('io.k8s.api.autoscaling.v2.HPAScalingRules', 'How fast to scale one way.', {
  stabilizationWindowSeconds: pointer(3, int32, 'How far back to look for a more cautious answer.'),
  selectPolicy: pointer(1, named('v2.ScalingPolicySelect'), 'Which of the policies decides: Max (the default), Min, or Disabled for none.'),
  // An empty list is invalid, while an absent one means the defaults: so it is kept.
  policies: pointer(2, listOf(HPAScalingPolicy), 'How much may change in how long.'),
  tolerance: pointer(4, quantity, 'How far from the target is near enough.'),
});
export type HPAScalingRules = Infer<typeof HPAScalingRules>;

export const HorizontalPodAutoscalerBehavior = object('io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerBehavior', 'How fast to scale.', {
  scaleUp: pointer(1, HPAScalingRules, 'How fast to scale up.'),
  scaleDown: pointer(2, HPAScalingRules, 'How fast to scale down.'),
});
export type HorizontalPodAutoscalerBehavior = Infer<typeof HorizontalPodAutoscalerBehavior>;

export const HorizontalPodAutoscalerSpec = object(
  'io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerSpec',
  'What to scale, and by which measures.',
  {
    scaleTargetRef: required(1, CrossVersionObjectReference, 'What is scaled.'),
    minReplicas: pointer(2, int32, 'The fewest pods. 1 by default.'),
    maxReplicas: required(3, int32, 'The most pods.'),
    metrics: field(4, listOf(MetricSpec), 'The metrics; the largest desired number of pods is used.'),
    behavior: pointer(5, HorizontalPodAutoscalerBehavior, 'How fast to scale up and down.'),
  },
);
export type HorizontalPodAutoscalerSpec = Infer<typeof HorizontalPodAutoscalerSpec>;

export const MetricValueStatus = object('io.k8s.api.autoscaling.v2.MetricValueStatus', 'The value of a measure.', {
  value: pointer(1, quantity, 'The value.'),
  averageValue: pointer(2, quantity, 'The value for each pod.'),
  averageUtilization: pointer(3, int32, 'The percentage of what pods request.'),
});
export type MetricValueStatus = Infer<typeof MetricValueStatus>;

export const ObjectMetricStatus = object('io.k8s.api.autoscaling.v2.ObjectMetricStatus', 'A measure of one object, as last read.', {
  metric: required(1, MetricIdentifier, 'The measure.'),
  current: required(2, MetricValueStatus, 'Its value.'),
  describedObject: required(3, CrossVersionObjectReference, 'The object.'),
});
export type ObjectMetricStatus = Infer<typeof ObjectMetricStatus>;

export const PodsMetricStatus = object('io.k8s.api.autoscaling.v2.PodsMetricStatus', 'A measure of each pod, as last read.', {
  metric: required(1, MetricIdentifier, 'The measure.'),
  current: required(2, MetricValueStatus, 'Its value.'),
});
export type PodsMetricStatus = Infer<typeof PodsMetricStatus>;

export const ResourceMetricStatus = object('io.k8s.api.autoscaling.v2.ResourceMetricStatus', 'CPU or memory of the pods, as last read.', {
  name: required(1, named('v1.ResourceName'), 'The name.'),
  current: required(2, MetricValueStatus, 'Its value.'),
});
export type ResourceMetricStatus = Infer<typeof ResourceMetricStatus>;

export const ContainerResourceMetricStatus = object(
  'io.k8s.api.autoscaling.v2.ContainerResourceMetricStatus',
  'CPU or memory of one container of each pod, as last read.',
  {
    name: required(1, named('v1.ResourceName'), 'The name.'),
    current: required(2, MetricValueStatus, 'Its value.'),
    container: required(3, string, 'The container.'),
  },
);
export type ContainerResourceMetricStatus = Infer<typeof ContainerResourceMetricStatus>;

export const ExternalMetricStatus = object(
  'io.k8s.api.autoscaling.v2.ExternalMetricStatus',
  'A measure from outside the cluster, as last read.',
  {
    metric: required(1, MetricIdentifier, 'The measure.'),
    current: required(2, MetricValueStatus, 'Its value.'),
  },
);
export type ExternalMetricStatus = Infer<typeof ExternalMetricStatus>;

export const MetricStatus = object('io.k8s.api.autoscaling.v2.MetricStatus', 'A measure as last read.', {
  type: required(1, named('v2.MetricSourceType'), 'Which member is set: Object, Pods, Resource, ContainerResource or External.'),
  object: pointer(2, ObjectMetricStatus, 'A measure of one object.'),
  pods: pointer(3, PodsMetricStatus, 'A measure of each pod, averaged.'),
  resource: pointer(4, ResourceMetricStatus, 'CPU or memory of the pods.'),
  containerResource: pointer(7, ContainerResourceMetricStatus, 'CPU or memory of one container of each pod.'),
  external: pointer(5, ExternalMetricStatus, 'A measure from outside the cluster.'),
});
export type MetricStatus = Infer<typeof MetricStatus>;

export const HorizontalPodAutoscalerCondition = object(
  'io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerCondition',
  'One finding about an autoscaler.',
  {
    type: required(1, named('v2.HorizontalPodAutoscalerConditionType'), 'The type of finding.'),
    status: required(2, named('v1.ConditionStatus'), 'True, False or Unknown.'),
    lastTransitionTime: always(3, time, 'When the status last changed.'),
    reason: field(4, string, 'Why, as one CamelCase word.'),
    message: field(5, string, 'Why, in words.'),
  },
);
export type HorizontalPodAutoscalerCondition = Infer<typeof HorizontalPodAutoscalerCondition>;

export const HorizontalPodAutoscalerStatus = object(
  'io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerStatus',
  'What the autoscaler sees and does.',
  {
    observedGeneration: pointer(1, int64, 'The generation that this status is about.'),
    lastScaleTime: pointer(2, time, 'When it last changed the number of pods.'),
    currentReplicas: field(3, int32, 'How many pods there are.'),
    desiredReplicas: required(4, int32, 'The desired number of pods.'),
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
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    spec: always(2, HorizontalPodAutoscalerSpec, 'What is wanted.', { required: true }),
    status: always(3, HorizontalPodAutoscalerStatus, 'What is the case, as last reported. Set by the system.'),
  },
);
export type HorizontalPodAutoscaler = Infer<typeof HorizontalPodAutoscaler>;
