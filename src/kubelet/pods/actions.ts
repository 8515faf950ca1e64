import type { core } from '#api';
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
    start: [...init.start, ...regular.start],
    startEphemeral,
    isOver: regular.isOver,
  };
}

function ephemeralContainers({ spec }: core.Pod): readonly core.Container[] {
  return (spec?.ephemeralContainers ?? []) as unknown as readonly core.Container[];
}

/** There is no sandbox, or it died. Containers that have completed do not need a new one. */
function actionsWithoutSandbox(pod: core.Pod, state: PodState): PodActions {
  const containers = pod.spec?.containers ?? [];
  const isDone = containers.every((container) => {
    const last = state.containers.find(({ name }) => name === container.name);
    return last?.state === 'exited' && !shouldRestart(container, pod, last.exitCode ?? 0);
  });
  const failedInit = (pod.spec?.initContainers ?? []).some((container) => {
    const last = state.containers.find(({ name }) => name === container.name);
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

function initActions(observed: PodObservation): InitActions {
  const { pod, state } = observed;
  const actions: InitActions = { kill: [], start: [], done: true, failed: false };
  const wasInitialized = hasStartedRegularContainer(pod, state);
  for (const container of pod.spec?.initContainers ?? []) {
    const step = isSidecar(container) ? sidecarStep(container, observed, actions) : initStep(container, observed, actions);
    if (step === 'goOn' || wasInitialized) continue;
    actions.done = false;
    break;
  }
  return actions;
}

function sidecarStep(container: core.Container, observed: PodObservation, actions: InitActions): 'goOn' | 'wait' {
  const status = activeContainer(observed.state, container.name);
  if (status?.state !== 'running') {
    actions.start.push(container);
    return 'wait';
  }
  const kill = killOf(container, status, observed);
  if (kill !== undefined) actions.kill.push(kill);
  if (kill?.restarts) actions.start.push(container);
  return kill === undefined && observed.hasStarted(status.id) ? 'goOn' : 'wait';
}

function initStep(container: core.Container, { pod, state }: PodObservation, actions: InitActions): 'goOn' | 'wait' {
  // Once regular containers have started, init containers do not run again and may have been removed.
  if (hasStartedRegularContainer(pod, state)) return 'goOn';
  const status = activeContainer(state, container.name);
  if (status?.state === 'running') return 'wait';
  if (status?.state === 'exited' && status.exitCode === 0) return 'goOn';
  if (status?.state === 'exited' && !shouldRestart(container, pod, status.exitCode ?? 0)) actions.failed = true;
  else actions.start.push(container);
  return 'wait';
}

function regularActions(observed: PodObservation) {
  const { pod, state } = observed;
  const kill: ContainerKill[] = [];
  const start: core.Container[] = [];
  let keptCount = 0;
  for (const container of pod.spec?.containers ?? []) {
    const status = activeContainer(state, container.name);
    if (status?.state === 'running') {
      const due = killOf(container, status, observed);
      if (due === undefined) keptCount++;
      else kill.push(due);
      if (due?.restarts) start.push(container);
    } else if (status?.state !== 'exited' || shouldRestart(container, pod, status.exitCode ?? 0)) start.push(container);
  }
  return { kill, start, isOver: keptCount === 0 && start.length === 0 };
}

function killOf(container: core.Container, status: PodContainer, observed: PodObservation): ContainerKill | undefined {
  const { pod } = observed;
  const prefix = isSidecar(container) && (pod.spec?.initContainers ?? []).includes(container) ? 'Init container' : 'Container';
  if (status.specHash !== '' && status.specHash !== observed.specHash(container)) {
    return {
      container: status,
      message: `${prefix} ${container.name} definition changed, will be restarted`,
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
