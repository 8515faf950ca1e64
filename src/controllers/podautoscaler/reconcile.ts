import type { autoscaling, autoscalingV2 } from '#api';
import { deepEqual, formatTime, Quantity, withCondition, withoutCondition } from '#machinery';
import { behaviourOf, type LimitedReplicas, limitByBehaviour, limitByDefault } from './limit-replicas.ts';
import type { MetricFailure, Proposal } from './propose-replicas.ts';
import type { Tolerances } from './replica-count.ts';
import type { ScalingHistory } from './scaling-history.ts';

export type Autoscaler = autoscalingV2.HorizontalPodAutoscaler & { readonly spec: autoscalingV2.HorizontalPodAutoscalerSpec };
export type Conditions = readonly autoscalingV2.HorizontalPodAutoscalerCondition[];
type MetricStatus = autoscalingV2.MetricStatus;

interface Finding {
  readonly type: 'AbleToScale' | 'ScalingActive' | 'ScalingLimited';
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

export function noted(conditions: Conditions | undefined, finding: Finding, now: number): Conditions {
  return withCondition(conditions, { ...finding, lastTransitionTime: formatTime(now) }, formatTime(now));
}

/** What the number of replicas says, before any metric is looked at. */
export type FirstLook =
  /** Somebody switched it off. */
  | { readonly type: 'disabled' }
  /** It is out of bounds. */
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
  const given = (tolerance: string | undefined) => (tolerance === undefined ? fallback : Quantity.parse(tolerance).toNumber());
  return { scaleUp: given(scaleUp?.tolerance), scaleDown: given(scaleDown?.tolerance) };
}

/** What all metrics together call for. */
export interface MetricsVerdict {
  /** Undefined: too little is known to change anything. */
  readonly wanted: { readonly replicas: number; readonly metric: string } | undefined;
  readonly finding: Finding;
  readonly statuses: readonly MetricStatus[];
  /** What is wrong with some or all of them. */
  readonly problem: string | undefined;
}

/** The metric that calls for the most decides; while one is unknown nothing is scaled down. */
export function judgeMetrics(results: readonly (Proposal | MetricFailure)[], current: number): MetricsVerdict {
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
    return { wanted: undefined, finding: failedFinding(failure), statuses, problem: problem ?? 'invalid metrics' };
  }
  const { replicas, metric } = most;
  const message = `the HPA was able to successfully calculate a replica count from ${metric}`;
  const finding: Finding = { type: 'ScalingActive', status: 'True', reason: 'ValidMetricFound', message };
  return { wanted: { replicas, metric }, finding, statuses, problem };
}

function failedFinding(failure: MetricFailure | undefined): Finding {
  const { reason = '', finding = '' } = failure ?? {};
  return { type: 'ScalingActive', status: 'False', reason, message: `the HPA was unable to compute the replica count: ${finding}` };
}

export interface Decision {
  readonly replicas: number;
  /** Why, when it is to change. */
  readonly reason: string;
  readonly conditions: Conditions;
  readonly history: ScalingHistory;
}

export interface DecisionInput {
  readonly current: number;
  readonly wanted: { readonly replicas: number; readonly metric: string };
  readonly conditions: Conditions;
  readonly history: ScalingHistory;
  readonly downWindowMs: number;
  readonly now: number;
}

/** What is done about what the metrics call for. */
export function decide({ spec }: Autoscaler, input: DecisionInput): Decision {
  const { current, wanted, now } = input;
  const limited = limit(spec, input);
  const rising = wanted.replicas > current ? `${wanted.metric} above target` : '';
  const reason = wanted.replicas < current ? 'All metrics below target' : rising;
  const able = noted(input.conditions, { type: 'AbleToScale', status: 'True', ...limited.ableToScale }, now);
  const status = limited.isLimited ? 'True' : 'False';
  const conditions = noted(able, { type: 'ScalingLimited', status, ...limited.limit }, now);
  return { replicas: limited.replicas, reason, conditions, history: limited.history };
}

function limit(
  spec: autoscalingV2.HorizontalPodAutoscalerSpec,
  { current, wanted, history, downWindowMs, now }: DecisionInput,
): LimitedReplicas {
  const wish = { current, desired: wanted.replicas, min: minReplicas(spec), max: spec.maxReplicas, now };
  if (spec.behavior === undefined) return limitByDefault(wish, history, downWindowMs);
  return limitByBehaviour(wish, history, behaviourOf(spec.behavior, downWindowMs));
}

export interface NewStatus {
  readonly current: number;
  readonly desired: number;
  readonly metrics: readonly MetricStatus[] | undefined;
  readonly conditions: Conditions;
  /** When it has just been scaled. */
  readonly scaledAt?: number | undefined;
}

/** The autoscaler with its status as it should be; the same object when it is so. */
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

/** The autoscaler with other conditions and all else as it was; the same object when they are the same. */
export function withConditions(autoscaler: Autoscaler, conditions: Conditions): Autoscaler {
  const { desiredReplicas = 0 } = autoscaler.status ?? {};
  const status = { ...autoscaler.status, desiredReplicas, conditions: [...conditions] } as autoscalingV2.HorizontalPodAutoscalerStatus;
  return deepEqual(status, autoscaler.status) ? autoscaler : { ...autoscaler, status };
}

/** Nothing scales to zero by itself here: a condition that says so is another's. */
export function withoutScaledToZero(conditions: Conditions): Conditions {
  return withoutCondition(conditions, 'ScaledToZero');
}

/** The numbers that a scale has, where it may leave out those that are zero. */
export function scaleNumbers({ spec, status }: autoscaling.Scale) {
  return { specReplicas: spec?.replicas ?? 0, statusReplicas: status?.replicas ?? 0, selector: status?.selector ?? '' };
}
