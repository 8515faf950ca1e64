import type { core } from '#api';
import { findCondition } from '#machinery';
import { isSidecar } from '../pod-state.ts';

export interface ConditionFacts {
  readonly pod: core.Pod;
  readonly previous: core.PodStatus;
  readonly phase: string;
  readonly initStatuses: readonly core.ContainerStatus[];
  readonly statuses: readonly core.ContainerStatus[];
  readonly hasSandbox: boolean;
  /** In the API's form. */
  readonly now: string;
}

interface Finding {
  readonly type: string;
  readonly status: 'True' | 'False';
  readonly reason?: string;
  readonly message?: string;
}

const OWNED = new Set(['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled']);

/** The conditions of others as they are, then the kubelet's own. */
export function podConditions(facts: ConditionFacts): core.PodCondition[] {
  const { pod, previous, hasSandbox } = facts;
  const others = (pod.status?.conditions ?? []).filter(({ type }) => !OWNED.has(type));
  const target = findCondition(previous.conditions, 'DisruptionTarget');
  if (target && !others.some(({ type }) => type === target.type)) others.push(target);
  const containersReady = containersReadyFinding(facts);
  const findings: readonly Finding[] = [
    { type: 'PodReadyToStartContainers', status: hasSandbox ? 'True' : 'False' },
    initializedFinding(facts),
    readyFinding(pod, containersReady, others),
    containersReady,
    { type: 'PodScheduled', status: 'True' },
  ];
  return [...others, ...findings.map((finding) => condition(finding, facts))];
}

function condition(finding: Finding, { pod, previous, now }: ConditionFacts): core.PodCondition {
  const old = findCondition(previous.conditions, finding.type) ?? findCondition(pod.status?.conditions, finding.type);
  const lastTransitionTime = old?.status === finding.status ? (old.lastTransitionTime ?? now) : now;
  const { generation } = pod.metadata;
  return { ...finding, lastTransitionTime, ...(generation && { observedGeneration: generation }) };
}

function containersReadyFinding({ pod, phase, initStatuses, statuses }: ConditionFacts): Finding {
  const type = 'ContainersReady';
  if (phase === 'Failed') return { type, status: 'False', reason: 'PodFailed' };
  const sidecars = (pod.spec?.initContainers ?? []).filter(isSidecar);
  const wanted = [...sidecars, ...(pod.spec?.containers ?? [])];
  const all = [...initStatuses, ...statuses];
  if (phase === 'Succeeded') return { type, status: 'False', reason: 'PodCompleted' };
  const unready = wanted.filter(({ name }) => all.find((status) => status.name === name)?.ready !== true).map(({ name }) => name);
  if (unready.length === 0) return { type, status: 'True' };
  return { type, status: 'False', reason: 'ContainersNotReady', message: `containers with unready status: [${unready.join(' ')}]` };
}

function readyFinding({ spec }: core.Pod, containersReady: Finding, conditions: readonly core.PodCondition[]): Finding {
  const type = 'Ready';
  if (containersReady.status !== 'True') return { ...containersReady, type };
  const problems = (spec?.readinessGates ?? []).flatMap(({ conditionType }) => {
    const found = findCondition(conditions, conditionType);
    if (found === undefined) return [`corresponding condition of pod readiness gate "${conditionType}" does not exist.`];
    return found.status === 'True' ? [] : [`the status of pod readiness gate "${conditionType}" is not "True", but ${found.status}`];
  });
  if (problems.length === 0) return { type, status: 'True' };
  return { type, status: 'False', reason: 'ReadinessGatesNotReady', message: problems.join(', ') };
}

function initializedFinding({ pod, phase, initStatuses, statuses, previous }: ConditionFacts): Finding {
  const type = 'Initialized';
  if (phase === 'Succeeded') return { type, status: 'True', reason: 'PodCompleted' };
  const hasRun = statuses.some(({ started, state, lastState }) => started === true || state?.terminated || lastState?.terminated);
  const incomplete = (pod.spec?.initContainers ?? []).filter((container) => {
    const status = initStatuses.find(({ name }) => name === container.name);
    return isSidecar(container) ? status?.started !== true : status?.ready !== true;
  });
  const wasInitialized = findCondition(previous.conditions, type)?.status === 'True';
  if (incomplete.length === 0 || hasRun || wasInitialized) return { type, status: 'True' };
  const names = incomplete.map(({ name }) => name).join(' ');
  return { type, status: 'False', reason: 'ContainersNotInitialized', message: `containers with incomplete status: [${names}]` };
}
