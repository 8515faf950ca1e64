import type { core } from '#api';
import { itemNamed } from '#base';
import type { PodContext } from './hooks/pod-hook.ts';
import { type KillDeps, killContainer } from './kill-container.ts';
import { containerSpecs, isSidecar, type PodContainer, type PodState } from './pod-state.ts';

export interface KillPodRequest {
  readonly context: PodContext;
  readonly state: PodState;
  readonly podIp: string;
  readonly graceMs: number;
}

/**
 * Stops a pod's containers in parallel; sidecars wait until the regular containers and later sidecars have exited, since those may
 * need them. Then stops its sandboxes.
 */
export async function killPod({ context, state, podIp, graceMs }: KillPodRequest, deps: KillDeps): Promise<void> {
  const alive = state.containers.filter((container) => container.state !== 'exited');
  const specs = containerSpecs(context.pod);
  const ends = new Map<string, Promise<void>>();
  for (const container of inOrderOfTheirEnd(alive, context.pod)) {
    const turn = turnOf(container, context.pod, ends);
    const target = { id: container.id, name: container.name, isRunning: container.state === 'running' };
    const spec = itemNamed(specs, container.name);
    const end = killContainer({ context, target, spec, podIp, graceMs, ...(turn && { turn }) }, deps);
    ends.set(container.id, end);
  }
  await Promise.all(ends.values());
  for (const { id } of state.sandboxes) await deps.runtime.stopPodSandbox(id);
}

function sidecarIndex({ name }: PodContainer, { spec }: core.Pod): number {
  return (spec?.initContainers ?? []).findIndex((container) => container.name === name && isSidecar(container));
}

/** Sidecars last, in reverse order. */
function inOrderOfTheirEnd(containers: readonly PodContainer[], pod: core.Pod): readonly PodContainer[] {
  const rank = (container: PodContainer) => {
    const index = sidecarIndex(container, pod);
    return index < 0 ? -Infinity : -index;
  };
  return containers.toSorted((a, b) => (rank(a) < rank(b) ? -1 : rank(a) > rank(b) ? 1 : 0));
}

/** A sidecar is stopped when all that precede it have exited, successfully or not. */
function turnOf(container: PodContainer, pod: core.Pod, ends: ReadonlyMap<string, Promise<void>>): Promise<void> | undefined {
  if (sidecarIndex(container, pod) < 0 || ends.size === 0) return undefined;
  return Promise.allSettled(ends.values()).then(() => {});
}
