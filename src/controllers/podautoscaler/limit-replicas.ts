import type { autoscalingV2 } from '#api';
import { maxOf, minOf } from '#base';
import { changeWithin, type ScalingHistory, withSample } from './scaling-history.ts';

type Rules = autoscalingV2.HPAScalingRules;
type Policy = autoscalingV2.HPAScalingPolicy;

export interface ReplicaBounds {
  readonly current: number;
  /** As computed from metrics. */
  readonly desired: number;
  readonly min: number;
  readonly max: number;
  readonly now: number;
}

interface Reason {
  readonly reason: string;
  readonly message: string;
}

export interface LimitedReplicas {
  readonly replicas: number;
  /** The reason of the AbleToScale condition. */
  readonly ableToScale: Reason;
  readonly isLimited: boolean;
  /** The reason of the ScalingLimited condition. */
  readonly limit: Reason;
  readonly history: ScalingHistory;
}

const READY: Reason = { reason: 'ReadyForNewScale', message: 'recommended size matches current size' };
const UP_STABILIZED: Reason = {
  reason: 'ScaleUpStabilized',
  message: 'recent recommendations were lower than current one, applying the lowest recent recommendation',
};
const DOWN_STABILIZED: Reason = {
  reason: 'ScaleDownStabilized',
  message: 'recent recommendations were higher than current one, applying the highest recent recommendation',
};
const IN_RANGE: Reason = { reason: 'DesiredWithinRange', message: 'the desired count is within the acceptable range' };
const TOO_FAST_UP: Reason = {
  reason: 'ScaleUpLimit',
  message: 'the desired replica count is increasing faster than the maximum scale rate',
};
const TOO_FAST_DOWN: Reason = {
  reason: 'ScaleDownLimit',
  message: 'the desired replica count is decreasing faster than the maximum scale rate',
};
const TOO_MANY: Reason = { reason: 'TooManyReplicas', message: 'the desired replica count is more than the maximum replica count' };
const TOO_FEW: Reason = { reason: 'TooFewReplicas', message: 'the desired replica count is less than the minimum replica count' };

/** Limits of an autoscaler without `behavior`: scale-down is stabilized, scale-up at most doubles. */
export function limitByDefault(bounds: ReplicaBounds, history: ScalingHistory, windowMs: number): LimitedReplicas {
  const { current, desired, min, max, now } = bounds;
  const recent = history.recommendations.filter(({ at }) => at >= now - windowMs).map(({ replicas }) => replicas);
  const stabilized = maxOf(recent, desired);
  const fastest = Math.max(2 * current, 4);
  const bound = max > fastest ? { most: fastest, reason: TOO_FAST_UP } : { most: max, reason: TOO_MANY };
  const recommendations = withSample(history.recommendations, desired, { now, keepMs: windowMs });
  return {
    ...clamped(stabilized, { least: min, tooFew: TOO_FEW, most: bound.most, tooMany: bound.reason }),
    ableToScale: stabilized === desired ? READY : DOWN_STABILIZED,
    history: { ...history, recommendations },
  };
}

interface Bounds {
  readonly least: number;
  readonly tooFew: Reason;
  readonly most: number;
  readonly tooMany: Reason;
}

function clamped(proposed: number, { least, tooFew, most, tooMany }: Bounds): Pick<LimitedReplicas, 'replicas' | 'isLimited' | 'limit'> {
  if (proposed < least) return { replicas: least, isLimited: true, limit: tooFew };
  if (proposed > most) return { replicas: most, isLimited: true, limit: tooMany };
  return { replicas: proposed, isLimited: false, limit: IN_RANGE };
}

/** `behavior` of an autoscaler, with defaults. */
export interface Behaviour {
  readonly scaleUp: Rules;
  readonly scaleDown: Rules;
  readonly upWindowMs: number;
  readonly downWindowMs: number;
}

export function behaviourOf(
  { scaleUp = {}, scaleDown = {} }: autoscalingV2.HorizontalPodAutoscalerBehavior,
  downWindowMs: number,
): Behaviour {
  const windowOf = ({ stabilizationWindowSeconds }: Rules, fallback: number) =>
    stabilizationWindowSeconds === undefined ? fallback : stabilizationWindowSeconds * 1000;
  return { scaleUp, scaleDown, upWindowMs: windowOf(scaleUp, 0), downWindowMs: windowOf(scaleDown, downWindowMs) };
}

/** Limits by the scaling policies in `behavior`. */
export function limitByBehaviour(bounds: ReplicaBounds, history: ScalingHistory, behaviour: Behaviour): LimitedReplicas {
  const { current, desired, now } = bounds;
  const stabilized = stabilize(bounds, history, behaviour);
  const keepMs = Math.max(behaviour.upWindowMs, behaviour.downWindowMs);
  const recommendations = withSample(history.recommendations, desired, { now, keepMs });
  const waits = desired >= current ? UP_STABILIZED : DOWN_STABILIZED;
  return {
    ...limitRate({ ...bounds, desired: stabilized }, history, behaviour),
    ableToScale: stabilized === desired ? READY : waits,
    history: { ...history, recommendations },
  };
}

/** Limits scale-up to the lowest and scale-down to the highest recommendation within the window. */
function stabilize(
  { current, desired, now }: ReplicaBounds,
  { recommendations }: ScalingHistory,
  { upWindowMs, downWindowMs }: Behaviour,
): number {
  const within = (windowMs: number) => recommendations.filter(({ at }) => at > now - windowMs).map(({ replicas }) => replicas);
  const lowest = minOf(within(upWindowMs), desired);
  const highest = maxOf(within(downWindowMs), desired);
  return Math.min(Math.max(current, lowest), highest);
}

function limitRate(bounds: ReplicaBounds, history: ScalingHistory, { scaleUp, scaleDown }: Behaviour) {
  const { current, desired, min, max, now } = bounds;
  const unbounded = { least: -Infinity, tooFew: TOO_FEW, most: Infinity, tooMany: TOO_MANY };
  if (desired > current) {
    const fastest = Math.max(current, scaleUpLimit(scaleUp, history, { current, now }));
    const bound = max > fastest ? { most: fastest, tooMany: TOO_FAST_UP } : { most: max };
    return clamped(desired, { ...unbounded, ...bound });
  }
  if (desired < current) {
    const fastest = Math.min(current, scaleDownLimit(scaleDown, history, { current, now }));
    const bound = min < fastest ? { least: fastest, tooFew: TOO_FAST_DOWN } : { least: min };
    return clamped(desired, { ...unbounded, ...bound });
  }
  return clamped(desired, unbounded);
}

interface Now {
  readonly current: number;
  readonly now: number;
}

function scaleUpLimit(rules: Rules, history: ScalingHistory, at: Now): number {
  // Rounded up, so that a small percentage of few pods still adds one.
  const propose = ({ type, value }: Policy, from: number) => (type === 'Pods' ? from + value : Math.ceil(from * (1 + value / 100)));
  const proposals = proposalsOf(rules, { history, at, propose });
  if (rules.selectPolicy === 'Disabled') return at.current;
  return rules.selectPolicy === 'Min' ? minOf(proposals) : maxOf(proposals);
}

function scaleDownLimit(rules: Rules, history: ScalingHistory, at: Now): number {
  const propose = ({ type, value }: Policy, from: number) => (type === 'Pods' ? from - value : Math.trunc(from * (1 - value / 100)));
  const proposals = proposalsOf(rules, { history, at, propose });
  if (rules.selectPolicy === 'Disabled') return at.current;
  return rules.selectPolicy === 'Min' ? maxOf(proposals) : minOf(proposals);
}

interface ProposalContext {
  readonly history: ScalingHistory;
  readonly at: Now;
  propose(policy: Policy, from: number): number;
}

/** The limit of each policy, counted from the replicas at the start of its period. */
function proposalsOf({ policies = [] }: Rules, { history, at: { current, now }, propose }: ProposalContext): readonly number[] {
  return policies.map((policy) => {
    const periodMs = policy.periodSeconds * 1000;
    const added = changeWithin(history.scaleUps, periodMs, now);
    const removed = changeWithin(history.scaleDowns, periodMs, now);
    return propose(policy, current - added + removed);
  });
}

/** The history with a scaling event, for rate policies. */
export function withChange(
  history: ScalingHistory,
  behaviour: Behaviour,
  { from, to, now }: { readonly from: number; readonly to: number; readonly now: number },
): ScalingHistory {
  const policies = [...(behaviour.scaleUp.policies ?? []), ...(behaviour.scaleDown.policies ?? [])];
  const keepMs = maxOf(
    policies.map(({ periodSeconds }) => periodSeconds * 1000),
    0,
  );
  if (to > from) return { ...history, scaleUps: withSample(history.scaleUps, to - from, { now, keepMs }) };
  return { ...history, scaleDowns: withSample(history.scaleDowns, from - to, { now, keepMs }) };
}
