import type { core } from '#api';
import type { ContainerRuntime, ContainerStatus, SandboxStatus } from './cri/runtime.ts';

/** What the runtime knows of a pod. */
export interface PodState {
  /** The newest sandbox, ready or not. */
  readonly sandbox: SandboxStatus | undefined;
  readonly sandboxes: readonly SandboxStatus[];
  /** Newest first, those of earlier sandboxes included. */
  readonly containers: readonly ContainerStatus[];
}

export async function readPodState(runtime: ContainerRuntime, podUid: string): Promise<PodState> {
  const sandboxes = await runtime.listPodSandboxes({ podUid });
  const containers = await runtime.listContainers({ podUid });
  return podState(sandboxes, containers);
}

export function podState(sandboxes: readonly SandboxStatus[], containers: readonly ContainerStatus[]): PodState {
  // Of two for the same attempt the first one counts: the other came late from a kubelet that had stopped.
  const newest = sandboxes.toSorted((a, b) => b.config.attempt - a.config.attempt || a.createdAtMs - b.createdAtMs);
  const sorted = containers.toSorted((a, b) => b.createdAtMs - a.createdAtMs || b.attempt - a.attempt);
  return { sandbox: newest[0], sandboxes: newest, containers: sorted };
}

export const NO_STATE: PodState = { sandbox: undefined, sandboxes: [], containers: [] };

/** The container of that name that was made last. */
export function latestContainer(state: PodState, name: string): ContainerStatus | undefined {
  return state.containers.find((container) => container.name === name);
}

/** The same, but only of the current sandbox: what an earlier one had does not count for what is to run. */
export function activeContainer(state: PodState, name: string): ContainerStatus | undefined {
  const { sandbox } = state;
  return state.containers.find((container) => container.name === name && container.sandboxId === sandbox?.id);
}

export function isSidecar(container: core.Container): boolean {
  return container.restartPolicy === 'Always';
}

export function hasStartedRegularContainer({ spec }: core.Pod, state: PodState): boolean {
  return (spec?.containers ?? []).some(({ name }) => activeContainer(state, name) !== undefined);
}

/** Whether a container of the pod's spec runs again after it ended with this code. */
export function shouldRestart(container: core.Container, pod: core.Pod, exitCode: number): boolean {
  for (const { action, exitCodes } of container.restartPolicyRules ?? []) {
    if (exitCodes === undefined) continue;
    const isListed = (exitCodes.values ?? []).includes(exitCode);
    if (isListed === (exitCodes.operator === 'In')) return action === 'Restart' || action === 'RestartAllContainers';
  }
  const policy = container.restartPolicy ?? pod.spec?.restartPolicy ?? 'Always';
  return policy === 'Always' || (policy === 'OnFailure' && exitCode !== 0);
}

/** As upstream names a pod in messages: `name_namespace(uid)`. */
export function podText({ metadata: { name, namespace = '', uid = '' } }: core.Pod): string {
  return `${name}_${namespace}(${uid})`;
}

export function isTerminalPhase(phase: string | undefined): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}
