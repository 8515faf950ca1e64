import type { autoscaling, autoscalingV2 } from '#api';
import { deepEqual, formatTime, Quantity, withCondition, withoutCondition } from '#machinery';
import { behaviourOf, type LimitedReplicas, limitByBehaviour, limitByDefault } from './limit-replicas.ts';
import type { MetricFailure, Proposal } from './propose-replicas.ts';
import type { Tolerances } from './replica-count.ts';
import type { ScalingHistory } from './scaling-history.ts';

export type Autoscaler = autoscalingV2.HorizontalPodAutoscaler & { readonly spec: autoscalingV2.HorizontalPodAutoscalerSpec };
export type Conditions = readonly autoscalingV2.HorizontalPodAutoscalerCondition[];
type MetricStatus = autoscalingV2.MetricStatus;

interface ConditionUpdate {
  readonly type: 'AbleToScale' | 'ScalingActive' | 'ScalingLimited';
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

export function withScalingCondition(conditions: Conditions | undefined, condition: ConditionUpdate, now: number): Conditions {
  return withCondition(conditions, { ...condition, lastTransitionTime: formatTime(now) }, formatTime(now));
}

/** What to do before any metric is read. */
export type FirstLook =
  /** Scaled to zero by the user: autoscaling is disabled. */
  | { readonly type: 'disabled' }
  /** The current size is out of bounds. */
  | { readonly type: 'bounded'; readonly replicas: number; readonly reason: string }
  | { readonly type: 'measure' };

export function lookFirst({ spec }: Autoscaler, current: number): FirstLook {
  if (current === 0) return { type: 'disabled' };
  if (current > spec.maxReplicas) {
    return { type: 'bounded', replicas: spec.maxReplicas, reason: 'Current number of replicas above Spec.MaxReplicas' };
  }
  const least = minReplicas(spec);
  if (current < least) return { type: 'bounded', replicas: least, reason: 'Current number of replicas below Spec.MinReplicas' };
  return { type: 'measure' };
}

function minReplicas(spec: autoscalingV2.HorizontalPodAutoscalerSpec): number {
  return spec.minReplicas ?? 1;
}

export function tolerancesOf({ spec }: Autoscaler, fallback: number): Tolerances {
  const { scaleUp, scaleDown } = spec.behavior ?? {};
  const parse = (tolerance: string | undefined) => (tolerance === undefined ? fallback : Quantity.parse(tolerance).toNumber());
  return { scaleUp: parse(scaleUp?.tolerance), scaleDown: parse(scaleDown?.tolerance) };
}

/** The combined result of all metrics. */
export interface MetricsResult {
  /** Undefined: too few metrics to scale. */
  readonly desired: { readonly replicas: number; readonly metric: string } | undefined;
  readonly condition: ConditionUpdate;
  readonly statuses: readonly MetricStatus[];
  /** The first error of the metrics. */
  readonly problem: string | undefined;
}

/** The highest proposal wins; while a metric is missing, nothing is scaled down. */
export function evaluateMetrics(results: readonly (Proposal | MetricFailure)[], current: number): MetricsResult {
  const proposals = results.filter((result) => !(result instanceof Error)) as readonly Proposal[];
  const failures = results.filter((result) => result instanceof Error) as readonly MetricFailure[];
  const [failure] = failures;
  const most = proposals.reduce<Proposal | undefined>(
    (best, next) => (best && best.replicas !== 0 && next.replicas <= best.replicas ? best : next),
    undefined,
  );
  const problem = failure && `invalid metrics (${failures.length} invalid out of ${results.length}), first error is: ${failure.message}`;
  const statuses = results.map((result) => (result instanceof Error ? { type: '' } : result.status));
  if (most === undefined || (failure !== undefined && most.replicas < current)) {
    return { desired: undefined, condition: failedCondition(failure), statuses, problem: problem ?? 'invalid metrics' };
  }
  const { replicas, metric } = most;
  const message = `the HPA was able to successfully calculate a replica count from ${metric}`;
  const condition: ConditionUpdate = { type: 'ScalingActive', status: 'True', reason: 'ValidMetricFound', message };
  return { desired: { replicas, metric }, condition, statuses, problem };
}

function failedCondition(failure: MetricFailure | undefined): ConditionUpdate {
  const { reason = '', detail = '' } = failure ?? {};
  return { type: 'ScalingActive', status: 'False', reason, message: `the HPA was unable to compute the replica count: ${detail}` };
}

export interface Decision {
  readonly replicas: number;
  /** The reason of the rescale. */
  readonly reason: string;
  readonly conditions: Conditions;
  readonly history: ScalingHistory;
}

export interface DecisionInput {
  readonly current: number;
  readonly desired: { readonly replicas: number; readonly metric: string };
  readonly conditions: Conditions;
  readonly history: ScalingHistory;
  readonly downWindowMs: number;
  readonly now: number;
}

/** The decision for the proposed size. */
export function decide({ spec }: Autoscaler, input: DecisionInput): Decision {
  const { current, desired, now } = input;
  const limited = limit(spec, input);
  const rising = desired.replicas > current ? `${desired.metric} above target` : '';
  const reason = desired.replicas < current ? 'All metrics below target' : rising;
  const able = withScalingCondition(input.conditions, { type: 'AbleToScale', status: 'True', ...limited.ableToScale }, now);
  const status = limited.isLimited ? 'True' : 'False';
  const conditions = withScalingCondition(able, { type: 'ScalingLimited', status, ...limited.limit }, now);
  return { replicas: limited.replicas, reason, conditions, history: limited.history };
}

function limit(
  spec: autoscalingV2.HorizontalPodAutoscalerSpec,
  { current, desired, history, downWindowMs, now }: DecisionInput,
): LimitedReplicas {
  const unlimited = { current, desired: desired.replicas, min: minReplicas(spec), max: spec.maxReplicas, now };
  if (spec.behavior === undefined) return limitByDefault(unlimited, history, downWindowMs);
  return limitByBehaviour(unlimited, history, behaviourOf(spec.behavior, downWindowMs));
}

export interface NewStatus {
  readonly current: number;
  readonly desired: number;
  readonly metrics: readonly MetricStatus[] | undefined;
  readonly conditions: Conditions;
  /** Set when it was just scaled. */
  readonly scaledAt?: number | undefined;
}

/** The autoscaler with the desired status; the same object if unchanged. */
export function withStatus(autoscaler: Autoscaler, { current, desired, metrics, conditions, scaledAt }: NewStatus): Autoscaler {
  const lastScaleTime = scaledAt === undefined ? autoscaler.status?.lastScaleTime : formatTime(scaledAt);
  const status = {
    ...(lastScaleTime && { lastScaleTime }),
    ...(current !== 0 && { currentReplicas: current }),
    desiredReplicas: desired,
    currentMetrics: metrics === undefined ? null : [...metrics],
    conditions: [...conditions],
  };
  const next = status as unknown as autoscalingV2.HorizontalPodAutoscalerStatus;
  return deepEqual(next, autoscaler.status) ? autoscaler : { ...autoscaler, status: next };
}

/** The autoscaler with other conditions; the same object if unchanged. */
export function withConditions(autoscaler: Autoscaler, conditions: Conditions): Autoscaler {
  const { desiredReplicas = 0 } = autoscaler.status ?? {};
  const status = { ...autoscaler.status, desiredReplicas, conditions: [...conditions] } as autoscalingV2.HorizontalPodAutoscalerStatus;
  return deepEqual(status, autoscaler.status) ? autoscaler : { ...autoscaler, status };
}

/** This autoscaler never scales to zero: another controller left the condition. */
export function withoutScaledToZero(conditions: Conditions): Conditions {
  return withoutCondition(conditions, 'ScaledToZero');
}

/** The sizes in a scale; absent means 0. */
export function scaleNumbers({ spec, status }: autoscaling.Scale) {
  return { specReplicas: spec?.replicas ?? 0, statusReplicas: status?.replicas ?? 0, selector: status?.selector ?? '' };
}
