import { core } from '#api';
import { formatTime } from '#machinery';
import { hasStartedRegularContainer } from '../pods/pod-state.ts';
import { areAllRemoved, canRestartAll, isRestartingAll } from '../pods/restart-all.ts';
import { type ContainerFacts, containerStatuses } from './container-statuses.ts';
import { limitMessages } from './limit-messages.ts';
import { foreignConditions, podConditions } from './pod-conditions.ts';
import { podPhase } from './pod-phase.ts';
import { terminatedStatus } from './terminated-status.ts';

export interface PodStatusFacts extends Omit<ContainerFacts, 'isRestartingAll'> {
  /** The kubelet's own decision: rejected, evicted, deadline exceeded. */
  readonly rejection: PodRejection | undefined;
  /** No further container of the pod will be started. */
  readonly isTerminal: boolean;
  readonly hostIps: readonly string[];
  /** The pod-level resources, if the node reports them. */
  readonly resources?: PodResources | undefined;
  /** The conditions of a resize. */
  readonly resizes?: readonly core.PodCondition[];
  readonly nowMs: number;
}

/** The sums of the containers' resources. */
export type PodResources = Pick<core.PodStatus, 'resources' | 'allocatedResources'>;

export interface PodRejection {
  readonly reason: string;
  readonly message: string;
  /** Sets the condition DisruptionTarget. */
  readonly isDisruption?: boolean;
  /** The message of that condition. Default: that of the status. */
  readonly disruptionMessage?: string;
}

/** The termination of an admitted pod by the node. */
export interface PodEviction extends PodRejection {
  readonly graceSeconds: number;
  /** The event's annotations. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** False: no event. */
  readonly isReported?: boolean;
}

/** The status for the API. Pure. */
export function podStatus(input: PodStatusFacts): core.PodStatus {
  const { pod, previous, state } = input;
  const facts = { ...input, isRestartingAll: isRestartingAll(pod, state, previous) };
  const initStatuses = limitMessages(containerStatuses(facts, 'init'), pod);
  const statuses = limitMessages(containerStatuses(facts, 'regular'), pod);
  const ephemeral = limitMessages(containerStatuses(facts, 'ephemeral'), pod);
  const phase = phaseOf(facts, initStatuses, statuses);
  const now = formatTime(facts.nowMs);
  const hasSandbox = state.sandbox?.isReady === true;
  const { generation } = pod.metadata;
  const status = {
    ...(generation && { observedGeneration: generation }),
    phase,
    ...explanation(facts, phase),
    conditions: podConditions({
      ...{ pod, previous, phase, initStatuses, statuses, hasSandbox, now, rejection: facts.rejection, resizes: facts.resizes },
      restartsAll: canRestartAll(pod) ? facts.isRestartingAll && !areAllRemoved(pod, state) : undefined,
    }),
    ...addresses(facts),
    startTime: previous.startTime ?? pod.status?.startTime ?? now,
    ...(initStatuses.length > 0 && { initContainerStatuses: initStatuses }),
    containerStatuses: statuses,
    ...facts.resources,
    ...(ephemeral.length > 0 && { ephemeralContainerStatuses: ephemeral }),
  };
  return facts.isTerminal ? terminatedStatus(status, pod) : status;
}

/** As the status of a rejected pod says it. */
export function rejectionMessage({ message }: PodRejection): string {
  return `Pod was rejected: ${message}`;
}

/** A rejected pod runs nothing: its status has only the reason. */
export function rejectedStatus(pod: core.Pod, rejection: PodRejection, nowMs: number): core.PodStatus {
  const { reason } = rejection;
  const startTime = formatTime(nowMs);
  const { generation } = pod.metadata;
  return {
    ...(generation && { observedGeneration: generation }),
    phase: 'Failed',
    reason,
    message: rejectionMessage(rejection),
    startTime,
    conditions: foreignConditions(pod),
  };
}

/** A terminal phase never changes. */
function phaseOf(facts: PodStatusFacts, initStatuses: readonly core.ContainerStatus[], statuses: readonly core.ContainerStatus[]): string {
  const { pod, previous, state, isTerminal, rejection } = facts;
  if (core.isTerminalPhase(pod.status?.phase)) return pod.status?.phase as string;
  if (core.isTerminalPhase(previous.phase)) return previous.phase as string;
  if (rejection !== undefined) return 'Failed';
  return podPhase({ pod, initStatuses, statuses, isTerminal, wasInitialized: hasStartedRegularContainer(pod, state) });
}

function explanation({ pod, previous, rejection }: PodStatusFacts, phase: string): Pick<core.PodStatus, 'reason' | 'message'> {
  if (rejection !== undefined) return { reason: rejection.reason, message: rejection.message };
  if (phase !== previous.phase) return {};
  const reason = previous.reason || pod.status?.reason;
  const message = previous.message || pod.status?.message;
  return { ...(reason && { reason }), ...(message && { message }) };
}

function addresses({ pod, previous, state, hostIps }: PodStatusFacts): Partial<core.PodStatus> {
  const [hostIP] = hostIps;
  const before = (previous.podIPs ?? pod.status?.podIPs ?? []).map(({ ip }) => ip);
  const current = state.sandbox?.ips ?? [];
  // A stopped sandbox has no address; the pod keeps the reported one.
  const ips = pod.spec?.hostNetwork === true ? hostIps : current.length > 0 ? current : before;
  const [podIP] = ips;
  return {
    ...(hostIP !== undefined && { hostIP, hostIPs: hostIps.map((ip) => ({ ip })) }),
    ...(podIP !== undefined && { podIP, podIPs: ips.map((ip) => ({ ip })) }),
  };
}

/** The status with PodReadyToStartContainers. */
export function withReadySandbox(status: core.PodStatus, { metadata }: core.Pod, nowMs: number): core.PodStatus {
  const type = 'PodReadyToStartContainers';
  const { generation } = metadata;
  const ready = { type, status: 'True', lastTransitionTime: formatTime(nowMs), ...(generation && { observedGeneration: generation }) };
  const { conditions = [] } = status;
  if (conditions.some((condition) => condition.type === type && condition.status === 'True')) return status;
  return { ...status, conditions: [...conditions.filter((condition) => condition.type !== type), ready] };
}
