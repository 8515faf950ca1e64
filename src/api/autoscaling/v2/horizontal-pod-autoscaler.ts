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

export const CrossVersionObjectReference = object('io.k8s.api.autoscaling.v2.CrossVersionObjectReference', '', {
  kind: required(1, string),
  name: required(2, string),
  apiVersion: field(3, string),
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
  name: required(1, string),
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
  name: required(1, string),
  target: required(2, MetricTarget),
});
export type ResourceMetricSource = Infer<typeof ResourceMetricSource>;

export const ContainerResourceMetricSource = object('io.k8s.api.autoscaling.v2.ContainerResourceMetricSource', '', {
  name: required(1, string),
  target: required(2, MetricTarget),
  container: required(3, string),
});
export type ContainerResourceMetricSource = Infer<typeof ContainerResourceMetricSource>;

export const ExternalMetricSource = object('io.k8s.api.autoscaling.v2.ExternalMetricSource', '', {
  metric: required(1, MetricIdentifier),
  target: required(2, MetricTarget),
});
export type ExternalMetricSource = Infer<typeof ExternalMetricSource>;

export const MetricSpec = object('io.k8s.api.autoscaling.v2.MetricSpec', '', {
  type: required(1, string),
  object: pointer(2, ObjectMetricSource),
  pods: pointer(3, PodsMetricSource),
  resource: pointer(4, ResourceMetricSource),
  containerResource: pointer(7, ContainerResourceMetricSource),
  external: pointer(5, ExternalMetricSource),
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

export const HorizontalPodAutoscalerSpec = object('io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerSpec', '', {
  scaleTargetRef: required(1, CrossVersionObjectReference),
  minReplicas: pointer(2, int32),
  maxReplicas: required(3, int32),
  metrics: field(4, listOf(MetricSpec)),
  behavior: pointer(5, HorizontalPodAutoscalerBehavior),
});
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
  name: required(1, string),
  current: required(2, MetricValueStatus),
});
export type ResourceMetricStatus = Infer<typeof ResourceMetricStatus>;

export const ContainerResourceMetricStatus = object('io.k8s.api.autoscaling.v2.ContainerResourceMetricStatus', '', {
  name: required(1, string),
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
  type: required(1, string),
  status: required(2, string),
  lastTransitionTime: always(3, time),
  reason: field(4, string),
  message: field(5, string),
});
export type HorizontalPodAutoscalerCondition = Infer<typeof HorizontalPodAutoscalerCondition>;

export const HorizontalPodAutoscalerStatus = object('io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerStatus', '', {
  observedGeneration: pointer(1, int64),
  lastScaleTime: pointer(2, time),
  currentReplicas: field(3, int32),
  desiredReplicas: required(4, int32),
  currentMetrics: always(5, listOf(MetricStatus)),
  conditions: field(6, mapListOf(HorizontalPodAutoscalerCondition, 'type'), '', { merge: 'type' }),
});
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
  '',
  {
    metadata: always(1, ObjectMeta),
    spec: always(2, HorizontalPodAutoscalerSpec, '', { required: true }),
    status: always(3, HorizontalPodAutoscalerStatus),
  },
);
export type HorizontalPodAutoscaler = Infer<typeof HorizontalPodAutoscaler>;
