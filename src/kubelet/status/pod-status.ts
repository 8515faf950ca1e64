import type { core } from '#api';
import { formatTime } from '#machinery';
import { hasStartedRegularContainer, isTerminalPhase } from '../pod-state.ts';
import { type ContainerFacts, containerStatuses } from './container-statuses.ts';
import { podConditions } from './pod-conditions.ts';
import { podPhase } from './pod-phase.ts';

export interface PodStatusFacts extends ContainerFacts {
  /** A decision of the kubelet itself: rejected, evicted, past its deadline. */
  readonly verdict: PodVerdict | undefined;
  readonly hostIps: readonly string[];
  readonly nowMs: number;
}

export interface PodVerdict {
  readonly reason: string;
  readonly message: string;
}

/** The status of a pod as the API is to show it. Pure. */
export function podStatus(facts: PodStatusFacts): core.PodStatus {
  const { pod, previous, state } = facts;
  const initStatuses = containerStatuses(facts, 'init');
  const statuses = containerStatuses(facts, 'regular');
  const ephemeral = containerStatuses(facts, 'ephemeral');
  const phase = phaseOf(facts, initStatuses, statuses);
  const now = formatTime(facts.nowMs);
  const hasSandbox = state.sandbox?.isReady === true;
  const { generation } = pod.metadata;
  return {
    ...(generation && { observedGeneration: generation }),
    phase,
    ...explanation(facts, phase),
    conditions: podConditions({ pod, previous, phase, initStatuses, statuses, hasSandbox, now }),
    ...addresses(facts),
    startTime: previous.startTime ?? pod.status?.startTime ?? now,
    ...(initStatuses.length > 0 && { initContainerStatuses: initStatuses }),
    containerStatuses: statuses,
    ...(ephemeral.length > 0 && { ephemeralContainerStatuses: ephemeral }),
  };
}

/** A pod that was refused runs nothing: its status says no more than why. */
export function rejectedStatus(pod: core.Pod, { reason, message }: PodVerdict, nowMs: number): core.PodStatus {
  const startTime = formatTime(nowMs);
  return { phase: 'Failed', reason, message: `Pod was rejected: ${message}`, startTime, conditions: pod.status?.conditions ?? [] };
}

/** A pod that is over stays over, and stays what it became. */
function phaseOf(facts: PodStatusFacts, initStatuses: readonly core.ContainerStatus[], statuses: readonly core.ContainerStatus[]): string {
  const { pod, previous, state, isTerminal, verdict } = facts;
  if (isTerminalPhase(pod.status?.phase)) return pod.status?.phase as string;
  if (isTerminalPhase(previous.phase)) return previous.phase as string;
  if (verdict !== undefined) return 'Failed';
  return podPhase({ pod, initStatuses, statuses, isTerminal, wasInitialized: hasStartedRegularContainer(pod, state) });
}

function explanation({ pod, previous, verdict }: PodStatusFacts, phase: string): Pick<core.PodStatus, 'reason' | 'message'> {
  if (verdict !== undefined) return { reason: verdict.reason, message: verdict.message };
  if (phase !== previous.phase) return {};
  const reason = previous.reason || pod.status?.reason;
  const message = previous.message || pod.status?.message;
  return { ...(reason && { reason }), ...(message && { message }) };
}

function addresses({ pod, previous, state, hostIps }: PodStatusFacts): Partial<core.PodStatus> {
  const [hostIP] = hostIps;
  const known = pod.spec?.hostNetwork === true ? hostIps : (state.sandbox?.ips ?? (previous.podIPs ?? []).map(({ ip }) => ip));
  const [podIP] = known;
  return {
    ...(hostIP !== undefined && { hostIP, hostIPs: hostIps.map((ip) => ({ ip })) }),
    ...(podIP !== undefined && { podIP, podIPs: known.map((ip) => ({ ip })) }),
  };
}
