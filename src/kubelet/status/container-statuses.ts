import type { core } from '#api';
import { formatTime } from '#machinery';
import type { ContainerStatus } from '../cri/runtime.ts';
import { isSidecar, type PodState, shouldRestart } from '../pod-state.ts';

export interface WaitingReason {
  readonly reason: string;
  readonly message: string;
}

export interface ContainerFacts {
  readonly pod: core.Pod;
  /** As last reported, or else as the API has it. */
  readonly previous: core.PodStatus;
  readonly state: PodState;
  /** Why containers that are to run do not, by name. */
  readonly waiting: ReadonlyMap<string, WaitingReason>;
  /** No container of the pod will be started any more. */
  readonly isTerminal: boolean;
  /** As in `containerd://id`. */
  readonly runtimeName: string;
  hasStarted(containerId: string): boolean;
  isReady(containerId: string): boolean;
}

type Role = 'init' | 'regular' | 'ephemeral';
type Spec = core.Container;

const UNKNOWN_EXIT_CODE = 137;

export function containerStatuses(facts: ContainerFacts, role: Role): core.ContainerStatus[] {
  const { spec } = facts.pod;
  const asContainers = (spec?.ephemeralContainers ?? []) as unknown as readonly Spec[];
  const specs = role === 'init' ? (spec?.initContainers ?? []) : role === 'regular' ? (spec?.containers ?? []) : asContainers;
  const statuses = specs.map((container) => containerStatus(container, role, facts));
  // Upstream lists init containers in their order, the others by name.
  return role === 'init' ? statuses : statuses.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

function containerStatus(container: Spec, role: Role, facts: ContainerFacts): core.ContainerStatus {
  const known = facts.state.containers.filter(({ name }) => name === container.name);
  const [latest, before] = known;
  const base = latest === undefined ? unseenStatus(container, role, facts) : seenStatus(container, latest, facts);
  const lastState = before === undefined ? (base.lastState ?? {}) : stateOf(before, facts);
  const status = withWaitingReason({ ...base, lastState }, container, role, facts);
  return withProgress(terminated(status, role, facts), container, role, { latest, facts });
}

function unseenStatus(container: Spec, role: Role, { pod, previous, state }: ContainerFacts): core.ContainerStatus {
  const reason = (pod.spec?.initContainers ?? []).length > 0 ? 'PodInitializing' : 'ContainerCreating';
  const waiting = { waiting: { reason } };
  const old = previousStatus(previous, role, container.name);
  const blank = { name: container.name, image: container.image ?? '', imageID: '', restartCount: 0, ready: false };
  if (old === undefined) return { ...blank, state: waiting, lastState: {} };
  // A finished init container may have been cleaned away: what was said of it stays true.
  if (role === 'init' && old.state?.terminated && !isSidecar(container)) return old;
  const kept = { ...blank, state: waiting, lastState: old.lastState ?? {}, restartCount: old.restartCount };
  if (!old.state?.running || old.lastState?.terminated || state.sandbox?.isReady) return kept;
  return { ...kept, ...lostSince(pod, old) };
}

/** It ran when last seen, and the runtime knows nothing of it: the machine or the runtime was restarted. */
function lostSince(pod: core.Pod, old: core.ContainerStatus): Pick<core.ContainerStatus, 'lastState' | 'restartCount'> {
  const isDeleted = pod.metadata.deletionTimestamp !== undefined;
  const lost = {
    reason: 'ContainerStatusUnknown',
    message: 'The container could not be located when the pod was deleted.  The container used to be Running',
    exitCode: UNKNOWN_EXIT_CODE,
  };
  return { lastState: { terminated: lost }, restartCount: old.restartCount + (isDeleted ? 0 : 1) };
}

function seenStatus(container: Spec, latest: ContainerStatus, facts: ContainerFacts): core.ContainerStatus {
  const { name, attempt, image, imageRef, id } = latest;
  const { requests } = container.resources ?? {};
  const old = previousStatus(facts.previous, undefined, name);
  return {
    ...{ name, state: stateOf(latest, facts), lastState: old?.containerID === idText(id, facts) ? (old.lastState ?? {}) : lastOf(old) },
    ...{ ready: false, restartCount: Math.max(attempt, old?.restartCount ?? 0), image, imageID: imageRef, containerID: idText(id, facts) },
    ...(requests !== undefined && { allocatedResources: requests }),
    resources: container.resources ?? {},
    ...volumeMounts(container),
  };
}

function lastOf(old: core.ContainerStatus | undefined): core.ContainerState {
  return old?.state?.terminated ? old.state : (old?.lastState ?? {});
}

function volumeMounts({ volumeMounts: mounts = [] }: Spec): Pick<core.ContainerStatus, 'volumeMounts'> {
  if (mounts.length === 0) return {};
  const statuses = mounts.map(({ name, mountPath, readOnly }) => ({
    name,
    mountPath,
    ...(readOnly === true && { readOnly, recursiveReadOnly: 'Disabled' }),
  }));
  return { volumeMounts: statuses };
}

export function stateOf(container: ContainerStatus, facts: Pick<ContainerFacts, 'runtimeName'>): core.ContainerState {
  const { state, startedAtMs, finishedAtMs, createdAtMs, exitCode = 0, reason, message, id } = container;
  if (state === 'running') return { running: { startedAt: formatTime(startedAtMs ?? createdAtMs) } };
  if (state === 'created') return { waiting: { reason: 'ContainerCreating' } };
  const started = startedAtMs !== undefined && { startedAt: formatTime(startedAtMs) };
  const times = { ...started, finishedAt: formatTime(finishedAtMs ?? createdAtMs) };
  const why = { ...(reason !== undefined && { reason }), ...(message !== undefined && { message }) };
  return { terminated: { exitCode, ...why, ...times, containerID: idText(id, facts) } };
}

function idText(id: string, { runtimeName }: Pick<ContainerFacts, 'runtimeName'>): string {
  return `${runtimeName}://${id}`;
}

/** One that is to run again shows why it does not yet, where that is known. */
function withWaitingReason(status: core.ContainerStatus, container: Spec, role: Role, facts: ContainerFacts): core.ContainerStatus {
  const waiting = facts.waiting.get(container.name);
  if (waiting === undefined || status.state?.running || role === 'ephemeral') return status;
  const exitCode = status.state?.terminated?.exitCode;
  if (exitCode !== undefined && role === 'init' && exitCode === 0 && !isSidecar(container)) return status;
  if (exitCode !== undefined && !shouldRestart(container as core.Container, facts.pod, exitCode)) return status;
  const lastState = status.state?.terminated ? status.state : (status.lastState ?? {});
  const { reason, message } = waiting;
  return { ...status, lastState, state: { waiting: { reason, ...(message !== '' && { message }) } } };
}

/** In a pod that is over, what cannot be found any more has ended, badly for all one knows. */
function terminated(status: core.ContainerStatus, role: Role, { isTerminal, pod, previous, state }: ContainerFacts): core.ContainerStatus {
  if (!isTerminal || role === 'ephemeral' || status.state?.running || status.state?.terminated) return status;
  if (status.lastState?.terminated) return { ...status, state: status.lastState, lastState: {} };
  const hasRun = state.containers.length > 0 || (previous.containerStatuses ?? []).some((old) => old.state?.running);
  if (!hasRun || pod.metadata.deletionTimestamp !== undefined) return status;
  const message = 'The container could not be located when the pod was terminated';
  const lost = { reason: 'ContainerStatusUnknown', message, exitCode: UNKNOWN_EXIT_CODE };
  return { ...status, state: { terminated: lost } };
}

interface Progress {
  readonly latest: ContainerStatus | undefined;
  readonly facts: ContainerFacts;
}

function withProgress(status: core.ContainerStatus, container: Spec, role: Role, { latest, facts }: Progress): core.ContainerStatus {
  const isRunning = latest !== undefined && status.state?.running !== undefined;
  if (role === 'ephemeral') return { ...status, ready: false };
  if (role === 'init' && !isSidecar(container)) {
    return { ...status, started: false, ready: status.state?.terminated?.exitCode === 0 };
  }
  const started = isRunning && facts.hasStarted(latest.id);
  return { ...status, started, ready: started && facts.isReady(latest.id) };
}

function previousStatus(previous: core.PodStatus, role: Role | undefined, name: string): core.ContainerStatus | undefined {
  const lists = {
    init: previous.initContainerStatuses,
    regular: previous.containerStatuses,
    ephemeral: previous.ephemeralContainerStatuses,
  };
  const candidates =
    role === undefined ? [...(lists.regular ?? []), ...(lists.init ?? []), ...(lists.ephemeral ?? [])] : (lists[role] ?? []);
  return candidates.find((status) => status.name === name);
}
