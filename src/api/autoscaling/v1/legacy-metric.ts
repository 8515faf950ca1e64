import type { LabelSelector } from '../../meta/v1/label-selector.ts';
import type { MetricSpec, MetricStatus, MetricTarget } from '../v2/horizontal-pod-autoscaler.ts';
import type { CrossVersionObjectReference } from './horizontal-pod-autoscaler.ts';

/** Metrics in the form that v1 stores in annotations. Members are in upstream's order. */
export interface LegacyMetricSpec {
  readonly type: string;
  readonly object?: {
    readonly target: CrossVersionObjectReference;
    readonly metricName: string;
    readonly targetValue: string;
    readonly selector?: LabelSelector;
    readonly averageValue?: string;
  };
  readonly pods?: { readonly metricName: string; readonly targetAverageValue: string; readonly selector?: LabelSelector };
  readonly resource?: LegacyResource;
  readonly containerResource?: LegacyResource & { readonly container: string };
  readonly external?: {
    readonly metricName: string;
    readonly metricSelector?: LabelSelector;
    readonly targetValue?: string;
    readonly targetAverageValue?: string;
  };
}

interface LegacyResource {
  readonly name: string;
  readonly targetAverageUtilization?: number;
  readonly targetAverageValue?: string;
}

export function toLegacyMetric({ type, object, pods, resource, containerResource, external }: MetricSpec): LegacyMetricSpec {
  return {
    type,
    ...(object && {
      object: {
        target: object.describedObject,
        metricName: object.metric.name,
        targetValue: object.target.value ?? '0',
        ...(object.metric.selector && { selector: object.metric.selector }),
        ...(object.target.averageValue !== undefined && { averageValue: object.target.averageValue }),
      },
    }),
    ...(pods && {
      pods: {
        metricName: pods.metric.name,
        targetAverageValue: pods.target.averageValue ?? '0',
        ...(pods.metric.selector && { selector: pods.metric.selector }),
      },
    }),
    ...(resource && { resource: toLegacyResource(resource.name, resource.target) }),
    ...(containerResource && {
      containerResource: {
        ...toLegacyResource(containerResource.name, containerResource.target),
        container: containerResource.container,
      },
    }),
    ...(external && {
      external: {
        metricName: external.metric.name,
        ...(external.metric.selector && { metricSelector: external.metric.selector }),
        ...(external.target.value !== undefined && { targetValue: external.target.value }),
        ...(external.target.averageValue !== undefined && { targetAverageValue: external.target.averageValue }),
      },
    }),
  };
}

function toLegacyResource(name: string, { averageUtilization, averageValue }: MetricTarget): LegacyResource {
  return {
    name,
    ...(averageUtilization !== undefined && { targetAverageUtilization: averageUtilization }),
    ...(averageValue !== undefined && { targetAverageValue: averageValue }),
  };
}

export function fromLegacyMetric({ type, object, pods, resource, containerResource, external }: LegacyMetricSpec): MetricSpec {
  return {
    type,
    ...(object && {
      object: { describedObject: object.target, target: objectTarget(object), metric: identifier(object.metricName, object.selector) },
    }),
    ...(pods && {
      pods: {
        metric: identifier(pods.metricName, pods.selector),
        target: { type: 'AverageValue', averageValue: pods.targetAverageValue },
      },
    }),
    ...(resource && { resource: { name: resource.name, target: resourceTarget(resource) } }),
    ...(containerResource && {
      containerResource: {
        name: containerResource.name,
        target: resourceTarget(containerResource),
        container: containerResource.container,
      },
    }),
    ...(external && { external: { metric: identifier(external.metricName, external.metricSelector), target: externalTarget(external) } }),
  };
}

function identifier(name: string, selector: LabelSelector | undefined) {
  return { name, ...(selector && { selector }) };
}

function objectTarget({ targetValue, averageValue }: NonNullable<LegacyMetricSpec['object']>): MetricTarget {
  if (averageValue === undefined) return { type: 'Value', value: targetValue };
  return { type: 'AverageValue', ...(targetValue !== '0' && { value: targetValue }), averageValue };
}

function resourceTarget({ targetAverageUtilization, targetAverageValue }: LegacyResource): MetricTarget {
  return {
    type: targetAverageUtilization === undefined ? 'AverageValue' : 'Utilization',
    ...(targetAverageValue !== undefined && { averageValue: targetAverageValue }),
    ...(targetAverageUtilization !== undefined && { averageUtilization: targetAverageUtilization }),
  };
}

function externalTarget({ targetValue, targetAverageValue }: NonNullable<LegacyMetricSpec['external']>): MetricTarget {
  return {
    type: targetValue === undefined ? 'AverageValue' : 'Value',
    ...(targetValue !== undefined && { value: targetValue }),
    ...(targetAverageValue !== undefined && { averageValue: targetAverageValue }),
  };
}

/** The status of a metric in the same form. */
export interface LegacyMetricStatus {
  readonly type: string;
  readonly object?: {
    readonly target: CrossVersionObjectReference;
    readonly metricName: string;
    readonly currentValue: string;
    readonly selector?: LabelSelector;
    readonly averageValue?: string;
  };
  readonly pods?: { readonly metricName: string; readonly currentAverageValue: string; readonly selector?: LabelSelector };
  readonly resource?: LegacyResourceStatus;
  readonly containerResource?: LegacyResourceStatus & { readonly container: string };
  readonly external?: {
    readonly metricName: string;
    readonly metricSelector?: LabelSelector;
    readonly currentValue: string;
    readonly currentAverageValue?: string;
  };
}

interface LegacyResourceStatus {
  readonly name: string;
  readonly currentAverageUtilization?: number;
  readonly currentAverageValue: string;
}

export function toLegacyStatus({ type, object, pods, resource, containerResource, external }: MetricStatus): LegacyMetricStatus {
  return {
    type,
    ...(object && {
      object: {
        target: object.describedObject,
        metricName: object.metric.name,
        currentValue: object.current.value ?? '0',
        ...(object.metric.selector && { selector: object.metric.selector }),
        ...(object.current.averageValue !== undefined && { averageValue: object.current.averageValue }),
      },
    }),
    ...(pods && {
      pods: {
        metricName: pods.metric.name,
        currentAverageValue: pods.current.averageValue ?? '0',
        ...(pods.metric.selector && { selector: pods.metric.selector }),
      },
    }),
    ...(resource && { resource: toLegacyResourceStatus(resource) }),
    ...(containerResource && {
      containerResource: { ...toLegacyResourceStatus(containerResource), container: containerResource.container },
    }),
    ...(external && {
      external: {
        metricName: external.metric.name,
        ...(external.metric.selector && { metricSelector: external.metric.selector }),
        currentValue: external.current.value ?? '0',
        ...(external.current.averageValue !== undefined && { currentAverageValue: external.current.averageValue }),
      },
    }),
  };
}

function toLegacyResourceStatus({ name, current }: NonNullable<MetricStatus['resource']>): LegacyResourceStatus {
  return {
    name,
    ...(current.averageUtilization !== undefined && { currentAverageUtilization: current.averageUtilization }),
    currentAverageValue: current.averageValue ?? '0',
  };
}

export function fromLegacyStatus({ type, object, pods, resource, containerResource, external }: LegacyMetricStatus): MetricStatus {
  return {
    type,
    ...(object && {
      object: {
        metric: identifier(object.metricName, object.selector),
        current: { value: object.currentValue, ...(object.averageValue !== undefined && { averageValue: object.averageValue }) },
        describedObject: object.target,
      },
    }),
    ...(pods && { pods: { metric: identifier(pods.metricName, pods.selector), current: { averageValue: pods.currentAverageValue } } }),
    ...(resource && { resource: { name: resource.name, current: resourceCurrent(resource) } }),
    ...(containerResource && {
      containerResource: {
        name: containerResource.name,
        current: resourceCurrent(containerResource),
        container: containerResource.container,
      },
    }),
    ...(external && {
      external: {
        metric: identifier(external.metricName, external.metricSelector),
        current: {
          value: external.currentValue,
          ...(external.currentAverageValue !== undefined && { averageValue: external.currentAverageValue }),
        },
      },
    }),
  };
}

function resourceCurrent({ currentAverageUtilization, currentAverageValue }: LegacyResourceStatus) {
  return {
    averageValue: currentAverageValue,
    ...(currentAverageUtilization !== undefined && { averageUtilization: currentAverageUtilization }),
  };
}
