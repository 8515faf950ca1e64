import type { core } from '#api';
import { itemNamed } from '#base';
import { findCondition } from '#machinery';
import { isSidecar } from '../pods/pod-state.ts';
import { RESTARTING_ALL } from '../pods/restart-all.ts';

export interface ConditionFacts {
  readonly pod: core.Pod;
  readonly previous: core.PodStatus;
  readonly phase: string;
  readonly initStatuses: readonly core.ContainerStatus[];
  readonly statuses: readonly core.ContainerStatus[];
  readonly hasSandbox: boolean;
  /** Undefined for pods without a RestartAllContainers rule. */
  readonly restartsAll?: boolean | undefined;
  /** How far a resize has come. */
  readonly resizes?: readonly core.PodCondition[] | undefined;
  readonly rejection?: { readonly message: string; readonly isDisruption?: boolean; readonly disruptionMessage?: string } | undefined;
  /** As an API timestamp. */
  readonly now: string;
}

interface ConditionUpdate {
  readonly type: string;
  readonly status: 'True' | 'False';
  readonly reason?: string;
  readonly message?: string;
}

export const OWNED_CONDITIONS: ReadonlySet<string> = new Set([
  'PodReadyToStartContainers',
  'Initialized',
  'Ready',
  'ContainersReady',
  'PodScheduled',
  RESTARTING_ALL,
  'PodResizePending',
  'PodResizeInProgress',
]);

/** Foreign conditions unchanged, then the kubelet's own. */
export function podConditions(facts: ConditionFacts): core.PodCondition[] {
  const { pod, previous, hasSandbox } = facts;
  const others = foreignConditions(pod);
  const target = disruptionTarget(facts) ?? findCondition(previous.conditions, 'DisruptionTarget');
  if (target && !others.some(({ type }) => type === target.type)) others.push(target);
  const containersReady = containersReadyCondition(facts);
  const updates: readonly ConditionUpdate[] = [
    { type: 'PodReadyToStartContainers', status: hasSandbox ? 'True' : 'False' },
    initializedCondition(facts),
    readyCondition(pod, containersReady, others),
    containersReady,
    { type: 'PodScheduled', status: 'True' },
    ...restartingConditions(facts),
  ];
  return [...others, ...(facts.resizes ?? []), ...updates.map((update) => condition(update, facts))];
}

function restartingConditions({ restartsAll, phase }: ConditionFacts): readonly ConditionUpdate[] {
  const type = RESTARTING_ALL;
  if (restartsAll === undefined) return [];
  if (phase === 'Succeeded') return [{ type, status: 'False', reason: 'PodCompleted' }];
  if (phase === 'Failed') return [{ type, status: 'False', reason: 'PodFailed' }];
  if (!restartsAll) return [{ type, status: 'False' }];
  return [{ type, status: 'True', reason: 'RestartAllContainersStarted', message: 'container exited with restart policy rule' }];
}

function disruptionTarget(facts: ConditionFacts): core.PodCondition | undefined {
  const { rejection } = facts;
  if (rejection?.isDisruption !== true) return undefined;
  const { message, disruptionMessage = message } = rejection;
  return condition({ type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet', message: disruptionMessage }, facts);
}

/** Conditions that are not the kubelet's. */
export function foreignConditions({ status }: core.Pod): core.PodCondition[] {
  return (status?.conditions ?? []).filter(({ type }) => !OWNED_CONDITIONS.has(type));
}

function condition(update: ConditionUpdate, { pod, previous, now }: ConditionFacts): core.PodCondition {
  const old = findCondition(previous.conditions, update.type) ?? findCondition(pod.status?.conditions, update.type);
  const lastTransitionTime = old?.status === update.status ? (old.lastTransitionTime ?? now) : now;
  // As upstream: the condition of restarting all containers has none.
  const generation = update.type === RESTARTING_ALL ? undefined : pod.metadata.generation;
  return { ...update, lastTransitionTime, ...(generation && { observedGeneration: generation }) };
}

function containersReadyCondition({ pod, phase, initStatuses, statuses }: ConditionFacts): ConditionUpdate {
  const type = 'ContainersReady';
  if (phase === 'Failed') return { type, status: 'False', reason: 'PodFailed' };
  const sidecars = (pod.spec?.initContainers ?? []).filter(isSidecar);
  const longRunning = [...sidecars, ...(pod.spec?.containers ?? [])];
  const all = [...initStatuses, ...statuses];
  if (phase === 'Succeeded') return { type, status: 'False', reason: 'PodCompleted' };
  const unready = longRunning.filter(({ name }) => itemNamed(all, name)?.ready !== true).map(({ name }) => name);
  if (unready.length === 0) return { type, status: 'True' };
  return { type, status: 'False', reason: 'ContainersNotReady', message: `containers with unready status: [${unready.join(' ')}]` };
}

function readyCondition({ spec }: core.Pod, containersReady: ConditionUpdate, conditions: readonly core.PodCondition[]): ConditionUpdate {
  const type = 'Ready';
  if (containersReady.status !== 'True') return { ...containersReady, type };
  const byType = new Map(conditions.toReversed().map((condition) => [condition.type, condition]));
  const problems = (spec?.readinessGates ?? []).flatMap(({ conditionType }) => {
    const condition = byType.get(conditionType);
    if (condition === undefined) return [`corresponding condition of pod readiness gate "${conditionType}" does not exist.`];
    return condition.status === 'True'
      ? []
      : [`the status of pod readiness gate "${conditionType}" is not "True", but ${condition.status}`];
  });
  if (problems.length === 0) return { type, status: 'True' };
  return { type, status: 'False', reason: 'ReadinessGatesNotReady', message: problems.join(', ') };
}

function initializedCondition({ pod, phase, initStatuses, statuses, previous }: ConditionFacts): ConditionUpdate {
  const type = 'Initialized';
  if (phase === 'Succeeded') return { type, status: 'True', reason: 'PodCompleted' };
  const hasRun = statuses.some(({ started, state, lastState }) => started === true || state?.terminated || lastState?.terminated);
  const incomplete = (pod.spec?.initContainers ?? []).filter((container) => {
    const status = itemNamed(initStatuses, container.name);
    return isSidecar(container) ? status?.started !== true : status?.ready !== true;
  });
  const wasInitialized = findCondition(previous.conditions, type)?.status === 'True';
  if (incomplete.length === 0 || hasRun || wasInitialized) return { type, status: 'True' };
  const names = incomplete.map(({ name }) => name).join(' ');
  return { type, status: 'False', reason: 'ContainersNotInitialized', message: `containers with incomplete status: [${names}]` };
}
