import type { core } from '#api';
import { itemNamed, itemsNamed } from '#base';
import { formatTime } from '#machinery';
import { hasStartedRegularContainer, isSidecar, type PodContainer, type PodState, shouldRestart } from '../pods/pod-state.ts';
import { RESTARTING_REASON } from '../pods/restart-all.ts';

export interface WaitingReason {
  readonly reason: string;
  readonly message: string;
}

export interface ContainerFacts {
  readonly pod: core.Pod;
  /** The last reported status, or the one in the API. */
  readonly previous: core.PodStatus;
  readonly state: PodState;
  /** Waiting reasons by container name. */
  readonly waiting: ReadonlyMap<string, WaitingReason>;
  /** As the prefix in `containerd://id`. */
  readonly runtimeName: string;
  /** RestartAllContainers is in progress. */
  readonly isRestartingAll: boolean;
  hasStarted(containerId: string): boolean;
  isReady(containerId: string): boolean;
  /** Of the container's allocated devices. Absent: there are none. */
  deviceHealth?(container: core.Container): readonly core.ResourceStatus[];
  /** What a running container has at the moment. Absent: what its spec says. */
  appliedResources?(containerId: string): core.ResourceRequirements | undefined;
}

type Role = 'init' | 'regular' | 'ephemeral';
type Spec = core.Container;

const UNKNOWN_EXIT_CODE = 137;
/** For an init container that was removed without a known status, after regular containers were created. */
const COMPLETED_UNSEEN = {
  terminated: {
    reason: 'Completed',
    message: 'Unable to get init container status from container runtime and pod has been initialized, treat it as exited normally',
    exitCode: 0,
  },
};

export function containerStatuses(facts: ContainerFacts, role: Role): core.ContainerStatus[] {
  const { spec } = facts.pod;
  const asContainers = (spec?.ephemeralContainers ?? []) as unknown as readonly Spec[];
  const specs = role === 'init' ? (spec?.initContainers ?? []) : role === 'regular' ? (spec?.containers ?? []) : asContainers;
  const statuses = specs.map((container) => containerStatus(container, role, facts));
  // As upstream: init containers in spec order, the others sorted by name.
  return role === 'init' ? statuses : statuses.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

function containerStatus(container: Spec, role: Role, facts: ContainerFacts): core.ContainerStatus {
  const instances = itemsNamed(facts.state.containers, container.name);
  const [latest, before] = instances;
  const base = latest === undefined ? unseenStatus(container, role, facts) : seenStatus(container, latest, facts);
  const lastState = before === undefined ? (base.lastState ?? {}) : stateOf(before, facts);
  const status = withWaitingReason({ ...base, lastState }, container, role, facts);
  return withProgress(status, container, role, { latest, facts });
}

function unseenStatus(container: Spec, role: Role, { pod, previous, state, isRestartingAll }: ContainerFacts): core.ContainerStatus {
  const reason = (pod.spec?.initContainers ?? []).length > 0 ? 'PodInitializing' : 'ContainerCreating';
  const waiting = { waiting: { reason } };
  const old = previousStatus(previous, role, container.name);
  const mounts = volumeMounts(container);
  const blank = { name: container.name, image: container.image ?? '', imageID: '', restartCount: 0, ready: false, ...mounts };
  const hasRun = role === 'init' && !isSidecar(container) && !isRestartingAll && hasStartedRegularContainer(pod, state);
  if (hasRun && !old?.state?.terminated) return { ...blank, state: COMPLETED_UNSEEN, lastState: old?.lastState ?? {} };
  if (old === undefined) return { ...blank, state: waiting, lastState: {} };
  if (isRestartingAll && role !== 'ephemeral' && !old.state?.waiting) return { ...blank, ...removedForRestart(old) };
  // What the runtime has removed keeps the status of its end.
  if (old.state?.terminated) return old;
  const status = { ...blank, state: waiting, lastState: old.lastState ?? {}, restartCount: old.restartCount };
  if (!old.state?.running || old.lastState?.terminated) return status;
  return { ...status, ...lostSince(pod, old) };
}

function removedForRestart({ restartCount }: core.ContainerStatus): Pick<core.ContainerStatus, 'state' | 'lastState' | 'restartCount'> {
  const detail = { reason: RESTARTING_REASON, message: 'The container is removed because RestartAllContainers in place' };
  return {
    state: { waiting: detail },
    lastState: { terminated: { ...detail, exitCode: UNKNOWN_EXIT_CODE } },
    restartCount: restartCount + 1,
  };
}

/** It ran when last seen, and the runtime does not know it: the machine or the runtime was restarted. */
function lostSince(pod: core.Pod, old: core.ContainerStatus): Pick<core.ContainerStatus, 'lastState' | 'restartCount'> {
  const isDeleted = pod.metadata.deletionTimestamp !== undefined;
  const unknownExit = {
    reason: 'ContainerStatusUnknown',
    message: 'The container could not be located when the pod was deleted.  The container used to be Running',
    exitCode: UNKNOWN_EXIT_CODE,
  };
  return { lastState: { terminated: unknownExit }, restartCount: old.restartCount + (isDeleted ? 0 : 1) };
}

function seenStatus(container: Spec, latest: PodContainer, facts: ContainerFacts): core.ContainerStatus {
  const { name, attempt, image, imageRef, id } = latest;
  const { requests } = container.resources ?? {};
  const old = previousStatus(facts.previous, undefined, name);
  const health = facts.deviceHealth?.(container) ?? [];
  return {
    ...{ name, state: stateOf(latest, facts), lastState: old?.containerID === idText(id, facts) ? (old.lastState ?? {}) : lastOf(old) },
    ...{ ready: false, restartCount: Math.max(attempt, old?.restartCount ?? 0), image, imageID: imageRef, containerID: idText(id, facts) },
    ...(requests !== undefined && { allocatedResources: requests }),
    resources: (latest.state === 'running' ? facts.appliedResources?.(id) : undefined) ?? container.resources ?? {},
    ...(health.length > 0 && { allocatedResourcesStatus: [...health] }),
    ...userOf(latest),
    ...volumeMounts(container, latest.recursiveReadOnly),
  };
}

function lastOf(old: core.ContainerStatus | undefined): core.ContainerState {
  return old?.state?.terminated ? old.state : (old?.lastState ?? {});
}

/** As the runtime says: groups of the image's files count too, unless the pod's policy is strict. */
function userOf({ user }: PodContainer): Pick<core.ContainerStatus, 'user'> {
  if (user === undefined) return {};
  const { supplementalGroups } = user;
  return {
    user: {
      linux: { uid: user.uid, gid: user.gid, ...(supplementalGroups.length > 0 && { supplementalGroups: [...supplementalGroups] }) },
    },
  };
}

function volumeMounts({ volumeMounts: mounts = [] }: Spec, recursive?: ReadonlySet<string>): Pick<core.ContainerStatus, 'volumeMounts'> {
  if (mounts.length === 0) return {};
  const statuses = mounts.map(({ name, mountPath, readOnly }) => ({
    name,
    mountPath,
    ...(readOnly === true && { readOnly, recursiveReadOnly: recursive?.has(mountPath) ? 'Enabled' : 'Disabled' }),
  }));
  return { volumeMounts: statuses };
}

export function stateOf(container: PodContainer, facts: Pick<ContainerFacts, 'runtimeName'>): core.ContainerState {
  const { state, startedAtMs, finishedAtMs, createdAtMs, exitCode = 0, reason, message, id } = container;
  if (state === 'running') return { running: { startedAt: formatTime(startedAtMs ?? createdAtMs) } };
  if (state === 'created') return { waiting: {} };
  // A container that never ran has the zero time, as upstream.
  const times = { startedAt: formatTime(startedAtMs ?? 0), finishedAt: formatTime(finishedAtMs ?? createdAtMs) };
  const detail = { ...(reason !== undefined && { reason }), ...(message !== undefined && { message }) };
  return { terminated: { exitCode, ...detail, ...times, containerID: idText(id, facts) } };
}

function idText(id: string, { runtimeName }: Pick<ContainerFacts, 'runtimeName'>): string {
  return `${runtimeName}://${id}`;
}

/** A container that is to restart shows its waiting reason, if known. */
function withWaitingReason(status: core.ContainerStatus, container: Spec, role: Role, facts: ContainerFacts): core.ContainerStatus {
  const waiting = facts.waiting.get(container.name);
  const isDeleted = facts.pod.metadata.deletionTimestamp !== undefined;
  if (waiting === undefined || status.state?.running || isDeleted) return status;
  // Ephemeral containers run once.
  if (role === 'ephemeral' && status.state?.terminated) return status;
  const exitCode = status.state?.terminated?.exitCode;
  if (exitCode !== undefined && role === 'init' && exitCode === 0 && !isSidecar(container)) return status;
  if (exitCode !== undefined && !shouldRestart(container as core.Container, facts.pod, exitCode)) return status;
  const lastState = status.state?.terminated ? status.state : (status.lastState ?? {});
  const { reason, message } = waiting;
  return { ...status, lastState, state: { waiting: { reason, ...(message !== '' && { message }) } } };
}

interface Progress {
  readonly latest: PodContainer | undefined;
  readonly facts: ContainerFacts;
}

function withProgress(status: core.ContainerStatus, container: Spec, role: Role, { latest, facts }: Progress): core.ContainerStatus {
  const isRunning = latest !== undefined && status.state?.running !== undefined;
  if (role === 'ephemeral') return { ...status, ready: false };
  if (role === 'init' && !isSidecar(container)) {
    return { ...status, started: isRunning, ready: status.state?.terminated?.exitCode === 0 };
  }
  const started = isRunning && facts.hasStarted(latest.id);
  return { ...status, started, ready: started && facts.isReady(latest.id) };
}

function previousStatus(previous: core.PodStatus, role: Role | undefined, name: string): core.ContainerStatus | undefined {
  const lists = {
    regular: previous.containerStatuses,
    init: previous.initContainerStatuses,
    ephemeral: previous.ephemeralContainerStatuses,
  };
  if (role !== undefined) return itemNamed(lists[role] ?? [], name);
  for (const list of Object.values(lists)) {
    const status = list && itemNamed(list, name);
    if (status !== undefined) return status;
  }
  return undefined;
}
