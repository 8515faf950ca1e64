import type { core } from '#api';
import { itemNamed } from '#base';
import {
  activeContainer,
  hasStartedRegularContainer,
  isSidecar,
  type PodContainer,
  type PodState,
  restartPolicyOf,
  shouldRestart,
} from './pod-state.ts';

export interface PodObservation {
  readonly pod: core.Pod;
  readonly state: PodState;
  /** The running container has passed its startup probe, or has none. */
  hasStarted(containerId: string): boolean;
  /** The probe because of which a running container must be killed. */
  probeFailure(containerId: string): 'liveness' | 'startup' | undefined;
  specHash(container: core.Container): string;
}

export interface ContainerKill {
  readonly container: PodContainer;
  readonly message: string;
  /** The failed probe; undefined for a changed definition. */
  readonly probe: 'liveness' | 'startup' | undefined;
  /** It is restarted regardless of its exit code. */
  readonly restarts: boolean;
}

/** The next actions for a pod that should run. */
export interface PodActions {
  readonly createSandbox: boolean;
  readonly kill: readonly ContainerKill[];
  /** In this order. Backoff is not considered here. */
  readonly start: readonly core.Container[];
  readonly startEphemeral: readonly core.Container[];
  /** Nothing will run again: remaining sidecars are stopped. */
  readonly isOver: boolean;
}

const NOTHING: PodActions = { createSandbox: false, kill: [], start: [], startEphemeral: [], isOver: false };

/** Pure: maps the pod's spec and the runtime's state to actions. */
export function podActions(observed: PodObservation): PodActions {
  const { pod, state } = observed;
  if (state.sandbox?.isReady !== true) return actionsWithoutSandbox(pod, state);
  const init = initActions(observed);
  if (init.failed) return { ...NOTHING, isOver: true };
  const startEphemeral = ephemeralContainers(pod).filter(({ name }) => activeContainer(state, name) === undefined);
  if (!init.done) return { ...NOTHING, kill: init.kill, start: init.start, startEphemeral };
  const regular = regularActions(observed);
  return {
    ...NOTHING,
    kill: [...init.kill, ...regular.kill],
    // Sidecars must not keep a pod alive.
    start: regular.isOver ? [] : [...init.start, ...regular.start],
    startEphemeral,
    isOver: regular.isOver,
  };
}

function ephemeralContainers({ spec }: core.Pod): readonly core.Container[] {
  return (spec?.ephemeralContainers ?? []) as unknown as readonly core.Container[];
}

/** There is no sandbox, or it died. Containers that have completed do not need a new one. */
function actionsWithoutSandbox(pod: core.Pod, state: PodState): PodActions {
  // As upstream: a pod that never restarts is over with its sandbox, once it has had a container.
  if (pod.spec?.restartPolicy === 'Never' && state.sandbox !== undefined && state.containers.length > 0)
    return { ...NOTHING, isOver: true };
  const containers = pod.spec?.containers ?? [];
  const isDone = containers.every((container) => {
    const last = itemNamed(state.containers, container.name);
    return last?.state === 'exited' && !shouldRestart(container, pod, last.exitCode ?? 0);
  });
  const failedInit = (pod.spec?.initContainers ?? []).some((container) => {
    const last = itemNamed(state.containers, container.name);
    return !isSidecar(container) && last?.state === 'exited' && last.exitCode !== 0 && !shouldRestart(container, pod, last.exitCode ?? 0);
  });
  return isDone || failedInit ? { ...NOTHING, isOver: true } : { ...NOTHING, createSandbox: true };
}

interface InitActions {
  readonly kill: ContainerKill[];
  readonly start: core.Container[];
  done: boolean;
  failed: boolean;
}

/**
 * From the last to the first, as upstream: the last one that the runtime knows tells how far initialization has come, since earlier ones may
 * have been removed. Of those before it only sidecars matter, which start again without holding up what comes after them.
 */
function initActions(observed: PodObservation): InitActions {
  const { pod, state } = observed;
  const specs = pod.spec?.initContainers ?? [];
  let isPast = hasStartedRegularContainer(pod, state);
  const actions: InitActions = { kill: [], start: [], done: isPast || specs.length === 0, failed: false };
  for (let index = specs.length - 1; index >= 0 && !actions.failed; index--) {
    const container = specs[index]!;
    const status = activeContainer(state, container.name);
    if (status === undefined && !(isPast && isSidecar(container))) continue;
    const next = specs[index + 1];
    if (isSidecar(container)) sidecarStep(container, { status, next, isPast }, observed, actions);
    else if (!isPast && status !== undefined) initStep(container, { status, next, isPast }, observed, actions);
    isPast = true;
  }
  if (!isPast && specs[0] !== undefined) actions.start.push(specs[0]);
  return actions;
}

interface InitPosition {
  readonly status: PodContainer | undefined;
  /** The init container after this one. */
  readonly next: core.Container | undefined;
  /** A later container has started. */
  readonly isPast: boolean;
}

/** This one has done its part: the next one may start. */
function proceed({ next, isPast }: InitPosition, actions: InitActions): void {
  if (next === undefined) actions.done = true;
  else if (!isPast) actions.start.unshift(next);
}

function sidecarStep(container: core.Container, position: InitPosition, observed: PodObservation, actions: InitActions): void {
  const { status } = position;
  if (status?.state !== 'running') {
    actions.start.unshift(container);
    return;
  }
  const hasStarted = observed.hasStarted(status.id);
  if (hasStarted) proceed(position, actions);
  const kill = killOf(container, status, observed);
  // A changed definition counts once the sidecar has started.
  if (kill === undefined || (!hasStarted && kill.probe === undefined)) return;
  actions.kill.push(kill);
  actions.start.unshift(container);
}

function initStep(container: core.Container, position: InitPosition, { pod }: PodObservation, actions: InitActions): void {
  const { state, exitCode = 0 } = position.status!;
  if (state === 'running') return;
  if (state === 'exited' && exitCode === 0) proceed(position, actions);
  else if (state === 'exited' && !shouldRestart(container, pod, exitCode)) actions.failed = true;
  else actions.start.unshift(container);
}

function regularActions(observed: PodObservation) {
  const { pod, state } = observed;
  const kill: ContainerKill[] = [];
  const start: core.Container[] = [];
  let runningCount = 0;
  for (const container of pod.spec?.containers ?? []) {
    const status = activeContainer(state, container.name);
    if (status?.state === 'running') {
      const due = killOf(container, status, observed);
      if (due === undefined) runningCount++;
      else kill.push(due);
      if (due?.restarts) start.push(container);
    } else if (status?.state !== 'exited' || shouldRestart(container, pod, status.exitCode ?? 0)) start.push(container);
  }
  return { kill, start, isOver: runningCount === 0 && start.length === 0 };
}

function killOf(container: core.Container, status: PodContainer, observed: PodObservation): ContainerKill | undefined {
  const { pod } = observed;
  const isInit = isSidecar(container) && itemNamed(pod.spec?.initContainers ?? [], container.name) === container;
  const prefix = isInit ? 'Init container' : 'Container';
  if (status.specHash !== '' && status.specHash !== observed.specHash(container)) {
    return {
      container: status,
      message: `${prefix} ${container.name} definition changed${prefix === 'Container' ? ', will be restarted' : ''}`,
      probe: undefined,
      restarts: true,
    };
  }
  const probe = observed.probeFailure(status.id);
  if (probe === undefined) return undefined;
  const restarts = restartPolicyOf(container, pod) !== 'Never';
  const suffix = restarts && prefix === 'Container' ? ', will be restarted' : '';
  const message = `${prefix} ${container.name} failed ${probe} probe${suffix}`;
  return { container: status, message, probe, restarts };
}
