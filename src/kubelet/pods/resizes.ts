import type { core } from '#api';
import { findCondition, Quantity } from '#machinery';
import { type ContainerRuntime, RuntimeError } from '../cri/runtime.ts';
import type { PodContext } from './hooks/pod-hook.ts';
import type { PodHooks } from './hooks/pod-hooks.ts';
import { memoryDecreaseProblem } from './memory-decrease.ts';
import { activeContainer, type PodContainer, type PodState } from './pod-state.ts';
import type { ContainerConfigs } from './start-container.ts';

export interface ResizeDeps {
  readonly runtime: ContainerRuntime;
  readonly hooks: PodHooks;
  readonly configs: ContainerConfigs;
  /** The running sandbox, if there is one. */
  readonly sandboxId: string | undefined;
  /** Ends a container whose resize policy demands it. */
  restart(container: PodContainer): Promise<void>;
}

interface Resize {
  readonly spec: core.Container;
  readonly container: PodContainer;
}

/** In-place resize: applies changed resources to running containers. */
export class Resizes {
  /** The applied resources by container id. Those of an earlier kubelet are up to date when first seen, unless a resize was in progress. */
  readonly #appliedResources = new Map<string, string>();

  /** Containers whose resources differ from the applied ones. */
  due({ spec }: core.Pod, state: PodState, reported: core.PodStatus = {}): readonly Resize[] {
    const running = new Set<string>();
    const due: Resize[] = [];
    for (const container of [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])]) {
      const current = activeContainer(state, container.name);
      if (current?.state !== 'running') continue;
      running.add(current.id);
      const requested = requestText(container, spec?.resources);
      const applied = this.#appliedResources.get(current.id);
      const appliedText = applied ?? unfinished(container, spec?.resources, reported) ?? requested;
      if (applied === undefined) this.#appliedResources.set(current.id, appliedText);
      if (appliedText !== requested) due.push({ spec: container, container: current });
    }
    for (const id of this.#appliedResources.keys()) if (!running.has(id)) this.#appliedResources.delete(id);
    return due;
  }

  /**
   * The pod's cgroup grows before its containers and shrinks after them: it must never have less than one of them. True when some were
   * stopped, to be restarted.
   */
  async perform(resizes: readonly Resize[], context: PodContext, deps: ResizeDeps): Promise<boolean> {
    const { pod } = context;
    await this.#checkMemory(resizes, context, deps);
    await resizeSandbox(context, deps);
    await deps.hooks.grow(context);
    let hasEnded = false;
    for (const { spec, container } of resizes) {
      const needsRestart = this.#needsRestart(spec, container);
      if (needsRestart) await deps.restart(container);
      else await deps.runtime.updateContainerResources(container.id, { linux: deps.configs.resources(pod, spec) });
      this.#appliedResources.set(container.id, requestText(spec, pod.spec?.resources));
      hasEnded ||= needsRestart;
    }
    await deps.hooks.resize(context);
    return hasEnded;
  }

  /** The resources that a container has, if they were applied. */
  applied(containerId: string): core.ResourceRequirements | undefined {
    const text = this.#appliedResources.get(containerId);
    return text === undefined ? undefined : (JSON.parse(text) as { readonly container: core.ResourceRequirements }).container;
  }

  async #checkMemory(resizes: readonly Resize[], context: PodContext, { hooks }: ResizeDeps): Promise<void> {
    const memory = await hooks.memory(context);
    if (memory === undefined) return;
    const limits = resizes
      .filter(({ spec, container }) => !this.#needsRestart(spec, container))
      .map(({ spec, container: { id, name } }) => ({
        ...{ id, name, limitBytes: memoryLimit(this.applied(id)), newLimitBytes: memoryLimit(spec.resources) },
      }));
    const problem = memoryDecreaseProblem(memory, limits);
    if (problem !== undefined) throw new Error(problem);
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

/** Runtimes may reject the resize. Those that run containers on the host need not implement this. */
async function resizeSandbox({ pod }: PodContext, { runtime, configs, sandboxId }: ResizeDeps): Promise<void> {
  if (sandboxId === undefined) return;
  try {
    await runtime.updatePodSandboxResources(sandboxId, configs.sandboxResources(pod));
  } catch (error) {
    if (isUnimplemented(error)) return;
    throw new Error(`failed to notify runtime for UpdatePodSandboxResources; resize rejected: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/** Containerd 2.2 says so by the message only. */
function isUnimplemented(error: unknown): boolean {
  if (!(error instanceof RuntimeError)) return false;
  return error.code === 'unimplemented' || (error.code === 'unknown' && error.description.includes('not implemented'));
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

function memoryLimit(resources: core.ResourceRequirements | undefined): number | undefined {
  const limit = resources?.limits?.memory;
  return limit === undefined ? undefined : Quantity.parse(limit).value();
}

/** What an earlier kubelet left unfinished: the container has what the status shows. */
function unfinished(container: core.Container, pod: core.ResourceRequirements | undefined, reported: core.PodStatus): string | undefined {
  if (findCondition(reported.conditions, 'PodResizeInProgress') === undefined) return undefined;
  const statuses = [...(reported.containerStatuses ?? []), ...(reported.initContainerStatuses ?? [])];
  const resources = statuses.find(({ name }) => name === container.name)?.resources;
  return resources && requestText({ ...container, resources }, pod);
}

/** The resources in the message of a resize event. */
export function resizeDetails({ metadata, spec }: core.Pod, { generation = metadata.generation, error }: ResizeNote = {}): string {
  const summary = (containers: readonly core.Container[] = []) =>
    containers.length === 0 ? undefined : containers.map(({ name, resources }) => ({ name, resources: resourcesOf(resources) }));
  const { initContainers, containers } = spec ?? {};
  return JSON.stringify({ initContainers: summary(initContainers), containers: summary(containers), generation, error });
}

interface ResizeNote {
  readonly generation?: number | undefined;
  readonly error?: string;
}
