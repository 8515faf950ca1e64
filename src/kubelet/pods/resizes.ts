import type { core } from '#api';
import type { ContainerRuntime } from '../cri/runtime.ts';
import type { PodContext } from './hooks/pod-hook.ts';
import type { PodHooks } from './hooks/pod-hooks.ts';
import { activeContainer, type PodContainer, type PodState } from './pod-state.ts';
import type { ContainerConfigs } from './start-container.ts';

export interface ResizeDeps {
  readonly runtime: ContainerRuntime;
  readonly hooks: PodHooks;
  readonly configs: ContainerConfigs;
}

interface Resize {
  readonly spec: core.Container;
  readonly container: PodContainer;
}

/** In-place resize: applies changed resources to running containers. */
export class Resizes {
  /** The applied resources by container id. Containers of an earlier kubelet count as up to date when first seen. */
  readonly #appliedResources = new Map<string, string>();

  /** Containers whose resources differ from the applied ones. */
  due({ spec }: core.Pod, state: PodState): readonly Resize[] {
    const running = new Set<string>();
    const due: Resize[] = [];
    for (const container of [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])]) {
      const current = activeContainer(state, container.name);
      if (current?.state !== 'running') continue;
      running.add(current.id);
      const requested = requestText(container, spec?.resources);
      const applied = this.#appliedResources.get(current.id);
      if (applied === undefined) this.#appliedResources.set(current.id, requested);
      else if (applied !== requested) due.push({ spec: container, container: current });
    }
    for (const id of this.#appliedResources.keys()) if (!running.has(id)) this.#appliedResources.delete(id);
    return due;
  }

  /** The pod's cgroup first, so that containers fit in. Returns the containers that must be restarted by their resize policy. */
  async perform(resizes: readonly Resize[], context: PodContext, deps: ResizeDeps): Promise<readonly PodContainer[]> {
    const { pod, events } = context;
    const details = detailsOf(pod);
    events.normal(undefined, 'ResizeStarted', `Pod resize started: ${details}`);
    await deps.hooks.resize(context);
    const restarts: PodContainer[] = [];
    for (const { spec, container } of resizes) {
      if (this.#needsRestart(spec, container)) restarts.push(container);
      else await deps.runtime.updateContainerResources(container.id, { linux: deps.configs.resources(pod, spec) });
      this.#appliedResources.set(container.id, requestText(spec, pod.spec?.resources));
    }
    events.normal(undefined, 'ResizeCompleted', `Pod resize completed: ${details}`);
    return restarts;
  }

  #needsRestart(spec: core.Container, { id }: PodContainer): boolean {
    const { container: applied = {} } = JSON.parse(this.#appliedResources.get(id) ?? '{}') as {
      readonly container?: core.ResourceRequirements;
    };
    return (spec.resizePolicy ?? []).some(({ resourceName, restartPolicy }) => {
      if (restartPolicy !== 'RestartContainer') return false;
      const isSame = (kind: 'limits' | 'requests') => applied[kind]?.[resourceName] === spec.resources?.[kind]?.[resourceName];
      return !isSame('limits') || !isSame('requests');
    });
  }
}

/** Includes the pod's limits, which apply to containers without their own. */
function requestText({ resources }: core.Container, pod: core.ResourceRequirements | undefined): string {
  return JSON.stringify({ container: resourcesOf(resources), ...(pod && { pod: resourcesOf(pod) }) });
}

function resourcesOf({ limits, requests }: core.ResourceRequirements = {}): core.ResourceRequirements {
  return { ...(limits && { limits: sorted(limits) }), ...(requests && { requests: sorted(requests) }) };
}

function sorted(list: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(list).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function detailsOf({ metadata, spec }: core.Pod): string {
  const summary = (containers: readonly core.Container[] = []) =>
    containers.length === 0 ? undefined : containers.map(({ name, resources }) => ({ name, resources: resourcesOf(resources) }));
  const { initContainers, containers } = spec ?? {};
  return JSON.stringify({ initContainers: summary(initContainers), containers: summary(containers), generation: metadata.generation });
}
