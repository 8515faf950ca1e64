import { isConditionTrue, parseTime } from '#machinery';
import type { TableDefinition } from '../../../behaviour.ts';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN, sinceCell, wideColumn } from '../../../table-cells.ts';
import type { ContainerState, ContainerStatus, Pod, PodStatus } from './pod.ts';
import type { PodSpec } from './pod-spec.ts';

const NONE = '<none>';
const COMPLETED = { type: 'Completed', status: 'True' } as const;

export const podTable: TableDefinition<Pod> = {
  columns: [
    NAME_COLUMN,
    column('Ready', 'How many of the containers are ready.'),
    column('Status', 'What the pod is doing, or what holds it up.'),
    column('Restarts', 'How often containers were restarted, and when the last one was.'),
    AGE_COLUMN,
    wideColumn('IP', 'The address of the pod.'),
    wideColumn('Node', 'The node that runs the pod.'),
    wideColumn('Nominated Node', 'The node on which room is being made for the pod.'),
    wideColumn('Readiness Gates', 'How many of the conditions that others set are true.'),
  ],
  cells: podCells,
  rowConditions: ({ status }) => {
    if (status?.phase === 'Succeeded') return [{ ...COMPLETED, reason: 'Succeeded', message: 'The pod has completed successfully.' }];
    return status?.phase === 'Failed' ? [{ ...COMPLETED, reason: 'Failed', message: 'The pod failed.' }] : [];
  },
};

function podCells(pod: Pod, now: number): readonly string[] {
  const { metadata, spec, status = {} } = pod;
  const { reason, ready, restarts } = summarize(pod);
  return [
    metadata.name,
    `${ready}/${countContainers(spec)}`,
    reason,
    restartsCell(restarts, now),
    ageCell(metadata, now),
    status.podIPs?.[0]?.ip || status.podIP || NONE,
    spec?.nodeName || NONE,
    status.nominatedNodeName || NONE,
    readinessGates(spec, status),
  ];
}

interface Restarts {
  readonly count: number;
  /** When a container last terminated before a restart. */
  readonly last: string | undefined;
}

interface PodSummary {
  readonly reason: string;
  readonly ready: number;
  readonly restarts: Restarts;
}

function restartsCell({ count, last }: Restarts, now: number): string {
  return count !== 0 && last ? `${count} (${sinceCell(last, now)} ago)` : String(count);
}

function countContainers({ containers, initContainers }: Partial<PodSpec> = {}): number {
  const sidecars = initContainers?.filter(({ restartPolicy }) => restartPolicy === 'Always') ?? [];
  return (containers?.length ?? 0) + sidecars.length;
}

function readinessGates({ readinessGates: gates }: Partial<PodSpec> = {}, { conditions }: PodStatus): string {
  if (!gates?.length) return NONE;
  const open = gates.filter(({ conditionType }) => isConditionTrue(conditions, conditionType));
  return `${open.length}/${gates.length}`;
}

function summarize(pod: Pod): PodSummary {
  const { metadata, status = {} } = pod;
  const init = summarizeInit(pod);
  const isInitialized = !init.reason || isConditionTrue(status.conditions, 'Initialized');
  const summary = isInitialized ? summarizeContainers(pod, init) : { ...init, reason: init.reason ?? '', restarts: init.all };
  const reason = metadata.deletionTimestamp ? deletionReason(status, summary.reason) : summary.reason;
  return { ready: summary.ready, restarts: summary.restarts, reason };
}

function deletionReason({ reason, phase }: PodStatus, current: string): string {
  if (reason === 'NodeLost') return 'Unknown';
  return phase === 'Succeeded' || phase === 'Failed' ? current : 'Terminating';
}

function phaseReason({ reason, phase, conditions = [] }: PodStatus): string {
  const isGated = conditions.some((condition) => condition.type === 'PodScheduled' && condition.reason === 'SchedulingGated');
  return isGated ? 'SchedulingGated' : reason || (phase ?? '');
}

interface InitSummary {
  /** Why initialization is incomplete; absent if it is complete. */
  readonly reason: string | undefined;
  readonly ready: number;
  readonly all: Restarts;
  /** Restarts of sidecar containers. */
  readonly sidecars: Restarts;
}

function summarizeInit({ spec, status = {} }: Pod): InitSummary {
  const sidecarNames = new Set(spec?.initContainers?.filter(({ restartPolicy }) => restartPolicy === 'Always').map(({ name }) => name));
  let all: Restarts = { count: 0, last: undefined };
  let sidecars = all;
  let ready = 0;
  for (const [i, container] of (status.initContainerStatuses ?? []).entries()) {
    const isSidecar = sidecarNames.has(container.name);
    all = addRestarts(all, container);
    if (isSidecar) sidecars = addRestarts(sidecars, container);
    if (container.state?.terminated && !container.state.terminated.exitCode) continue;
    if (isSidecar && container.started) {
      if (container.ready) ready++;
      continue;
    }
    return { reason: initReason(container.state, `${i}/${spec?.initContainers?.length ?? 0}`), ready, all, sidecars };
  }
  return { reason: undefined, ready, all, sidecars };
}

function initReason({ terminated, waiting }: ContainerState = {}, progress: string): string {
  if (terminated) return `Init:${terminationReason(terminated)}`;
  if (waiting?.reason && waiting.reason !== 'PodInitializing') return `Init:${waiting.reason}`;
  return `Init:${progress}`;
}

function terminationReason({ reason, signal, exitCode }: NonNullable<ContainerState['terminated']>): string {
  if (reason) return reason;
  return signal ? `Signal:${signal}` : `ExitCode:${exitCode ?? 0}`;
}

function addRestarts({ count, last }: Restarts, { restartCount, lastState }: ContainerStatus): Restarts {
  const finished = lastState?.terminated?.finishedAt;
  const isLater = finished && (!last || parseTime(finished) > parseTime(last));
  return { count: count + (restartCount ?? 0), last: isLater ? finished : last };
}

// From the last container to the first, so that the first waiting or terminated one determines the reason.
function summarizeContainers({ status = {} }: Pod, init: InitSummary): PodSummary {
  let { ready } = init;
  let restarts = init.sidecars;
  let reason = init.reason ?? phaseReason(status);
  let errorReason = '';
  let hasRunning = false;
  for (const container of [...(status.containerStatuses ?? [])].reverse()) {
    const { waiting, terminated, running } = container.state ?? {};
    restarts = addRestarts(restarts, container);
    if (waiting?.reason) reason = waiting.reason;
    else if (terminated) {
      reason = terminationReason(terminated);
      if (terminated.exitCode) errorReason = reason;
    } else if (container.ready && running) {
      hasRunning = true;
      ready++;
    }
  }
  if (reason === 'Completed') reason = completedReason({ hasRunning, errorReason, status });
  return { reason, ready, restarts };
}

interface Completion {
  readonly hasRunning: boolean;
  readonly errorReason: string;
  readonly status: PodStatus;
}

// A container has completed, but others may be running or have failed.
function completedReason({ hasRunning, errorReason, status }: Completion): string {
  if (hasRunning && isConditionTrue(status.conditions, 'Ready')) return 'Running';
  if (errorReason) return errorReason;
  return hasRunning ? 'NotReady' : 'Completed';
}
