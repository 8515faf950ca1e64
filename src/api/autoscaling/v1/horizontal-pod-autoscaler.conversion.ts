import { encodeJson } from '#machinery';
import { goStruct } from '../../go-struct.ts';
import { cpuMetric } from '../v2/horizontal-pod-autoscaler.defaults.ts';
import * as v2 from '../v2/horizontal-pod-autoscaler.ts';
import type { HorizontalPodAutoscaler, HorizontalPodAutoscalerSpec, HorizontalPodAutoscalerStatus } from './horizontal-pod-autoscaler.ts';
import {
  fromLegacyMetric,
  fromLegacyStatus,
  type LegacyMetricSpec,
  type LegacyMetricStatus,
  toLegacyMetric,
  toLegacyStatus,
} from './legacy-metric.ts';

/** Autoscalers are stored as v2; v1 has a field for one metric and annotations for the others. */
const METRICS = 'autoscaling.alpha.kubernetes.io/metrics';
const CURRENT_METRICS = 'autoscaling.alpha.kubernetes.io/current-metrics';
const CONDITIONS = 'autoscaling.alpha.kubernetes.io/conditions';
const BEHAVIOR = 'autoscaling.alpha.kubernetes.io/behavior';
const CARRIERS = [
  METRICS,
  BEHAVIOR,
  'autoscaling.alpha.kubernetes.io/scale-down-tolerance',
  'autoscaling.alpha.kubernetes.io/scale-up-tolerance',
  CURRENT_METRICS,
  CONDITIONS,
];

type Annotations = Readonly<Record<string, string>>;

export function toV1(autoscaler: v2.HorizontalPodAutoscaler): HorizontalPodAutoscaler {
  const { metadata, spec, status } = autoscaler;
  const others = (spec?.metrics ?? []).filter((metric) => !isCpuUtilization(metric));
  const carried: Record<string, string> = {
    ...(others.length > 0 && { [METRICS]: encodeJson(others.map(toLegacyMetric)) }),
    ...(status?.currentMetrics?.length && { [CURRENT_METRICS]: encodeJson(status.currentMetrics.map(toLegacyStatus)) }),
    ...(spec?.behavior && { [BEHAVIOR]: encodeJson(goStruct(v2.HorizontalPodAutoscalerBehavior, spec.behavior)) }),
    ...(status?.conditions?.length && { [CONDITIONS]: encodeJson(status.conditions.map(carriedCondition)) }),
  };
  const annotations = { ...withoutCarriers(metadata.annotations), ...carried };
  return {
    ...autoscaler,
    apiVersion: 'autoscaling/v1',
    metadata: withAnnotations(metadata, annotations),
    spec: specToV1(spec),
    status: statusToV1(status),
  };
}

/** In field order, whatever order it was written in. */
function carriedCondition({ type, status, lastTransitionTime, reason, message }: v2.HorizontalPodAutoscalerCondition) {
  return { type, status, lastTransitionTime: lastTransitionTime ?? null, ...(reason && { reason }), ...(message && { message }) };
}

/** The target CPU utilization: the explicit one, that of a CPU metric, or the default if there are no metrics. */
export function cpuTargetOf({ metadata, spec }: HorizontalPodAutoscaler): number | undefined {
  if (spec?.targetCPUUtilizationPercentage !== undefined) return spec.targetCPUUtilizationPercentage;
  return specToV1(specToV2(spec, metadata?.annotations ?? {})).targetCPUUtilizationPercentage;
}

function isCpuUtilization({ type, resource }: v2.MetricSpec): boolean {
  return type === 'Resource' && resource?.name === 'cpu' && resource.target?.averageUtilization !== undefined;
}

function specToV1(spec: Partial<v2.HorizontalPodAutoscalerSpec> = {}): HorizontalPodAutoscalerSpec {
  const target = spec.metrics?.find(isCpuUtilization)?.resource?.target.averageUtilization;
  return {
    scaleTargetRef: spec.scaleTargetRef ?? { kind: '', name: '' },
    ...(spec.minReplicas !== undefined && { minReplicas: spec.minReplicas }),
    maxReplicas: spec.maxReplicas ?? 0,
    ...(target !== undefined && { targetCPUUtilizationPercentage: target }),
  };
}

function statusToV1(status: Partial<v2.HorizontalPodAutoscalerStatus> = {}): HorizontalPodAutoscalerStatus {
  const cpu = status.currentMetrics?.findLast(
    ({ type, resource }) => type === 'Resource' && resource?.name === 'cpu' && resource.current?.averageUtilization !== undefined,
  );
  const current = cpu?.resource?.current.averageUtilization;
  return {
    ...(status.observedGeneration !== undefined && { observedGeneration: status.observedGeneration }),
    ...(status.lastScaleTime !== undefined && { lastScaleTime: status.lastScaleTime }),
    currentReplicas: status.currentReplicas ?? 0,
    desiredReplicas: status.desiredReplicas ?? 0,
    ...(current !== undefined && { currentCPUUtilizationPercentage: current }),
  };
}

export function toV2(autoscaler: HorizontalPodAutoscaler): v2.HorizontalPodAutoscaler {
  const { metadata, spec, status } = autoscaler;
  const annotations = metadata.annotations ?? {};
  return {
    ...autoscaler,
    apiVersion: 'autoscaling/v2',
    metadata: withAnnotations(metadata, withoutCarriers(annotations)),
    spec: specToV2(spec, annotations),
    status: statusToV2(status, annotations),
  };
}

function specToV2(spec: Partial<HorizontalPodAutoscalerSpec> = {}, annotations: Annotations): v2.HorizontalPodAutoscalerSpec {
  const target = spec.targetCPUUtilizationPercentage;
  const others = carriedList<LegacyMetricSpec>(annotations[METRICS])?.map(fromLegacyMetric) ?? [];
  const metrics = target === undefined ? others : [...others, cpuMetric(target)];
  const behavior = carriedBehavior(annotations[BEHAVIOR]);
  return {
    scaleTargetRef: spec.scaleTargetRef ?? { kind: '', name: '' },
    ...(spec.minReplicas !== undefined && { minReplicas: spec.minReplicas }),
    maxReplicas: spec.maxReplicas ?? 0,
    metrics: metrics.length > 0 ? metrics : [cpuMetric()],
    ...(behavior && { behavior }),
  };
}

function statusToV2(status: Partial<HorizontalPodAutoscalerStatus> = {}, annotations: Annotations): v2.HorizontalPodAutoscalerStatus {
  const current = status.currentCPUUtilizationPercentage;
  const carried = carriedList<LegacyMetricStatus>(annotations[CURRENT_METRICS])?.map(fromLegacyStatus);
  const own: v2.MetricStatus[] =
    current === undefined ? [] : [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: current } } }];
  const metrics = carried ?? own;
  const conditions = carriedList<v2.HorizontalPodAutoscalerCondition>(annotations[CONDITIONS]);
  return {
    ...(status.observedGeneration !== undefined && { observedGeneration: status.observedGeneration }),
    ...(status.lastScaleTime !== undefined && { lastScaleTime: status.lastScaleTime }),
    ...(status.currentReplicas !== undefined && { currentReplicas: status.currentReplicas }),
    desiredReplicas: status.desiredReplicas ?? 0,
    ...(metrics.length > 0 && { currentMetrics: metrics }),
    ...(conditions && { conditions }),
  };
}

/** A list in an annotation. Users can write anything there: invalid values are ignored. */
function carriedList<T>(text: string | undefined): readonly T[] | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? (value as T[]) : undefined;
  } catch {
    return undefined;
  }
}

function carriedBehavior(text: string | undefined): v2.HorizontalPodAutoscalerBehavior | undefined {
  if (text === undefined) return undefined;
  try {
    const value = JSON.parse(text) as Record<string, unknown> | null;
    const behavior = value && (fromGoNames(value) as v2.HorizontalPodAutoscalerBehavior);
    return behavior && (behavior.scaleUp || behavior.scaleDown) ? behavior : undefined;
  } catch {
    return undefined;
  }
}

// The annotation uses Go's field names; unset fields are null.
function fromGoNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fromGoNames);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(members.map(([name, member]) => [name.charAt(0).toLowerCase() + name.slice(1), fromGoNames(member)]));
}

function withoutCarriers(annotations: Annotations = {}): Annotations {
  return Object.fromEntries(Object.entries(annotations).filter(([name]) => !CARRIERS.includes(name)));
}

function withAnnotations<M extends { readonly annotations?: Annotations }>(metadata: M, annotations: Annotations): M {
  const { annotations: _, ...rest } = metadata;
  return (Object.keys(annotations).length > 0 ? { ...rest, annotations } : rest) as M;
}
