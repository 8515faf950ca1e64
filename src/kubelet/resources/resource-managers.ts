import type { core } from '#api';
import { AsyncSemaphore, mergeAll } from '#base';
import type { ContainerAdditions, ContainerContext, PodContext, PodHook } from '../pods/hooks/pod-hook.ts';
import { isSidecar } from '../pods/pod-state.ts';
import type { PodRejection } from '../status/pod-status.ts';
import { AllocationError, type HintProvider } from './hint-provider.ts';
import { mergeHints, type TopologyHint, type TopologyPolicy, type TopologyScope } from './topology-hints.ts';

export interface ResourceProvider extends HintProvider {
  /** Configuration additions for a container with allocations. */
  additions?(context: ContainerContext): Promise<ContainerAdditions | undefined>;
}

export interface ResourceManagersConfig {
  readonly providers: readonly ResourceProvider[];
  readonly policy: TopologyPolicy;
  readonly scope: TopologyScope;
  /** NUMA node numbers. */
  readonly numaNodes: readonly number[];
}

/** Allocates CPUs, memory and devices of pods, NUMA-aligned if the policy requires it. */
export class ResourceManagers implements PodHook {
  readonly name = 'resource-managers';
  /** Serializes admission, so that no resource is allocated twice. */
  readonly #turn = new AsyncSemaphore(1);

  constructor(private readonly config: ResourceManagersConfig) {}

  /** Allocates for all containers of the pod; on a rejection everything is released. */
  async admit(pod: core.Pod): Promise<PodRejection | undefined> {
    using _turn = await this.#turn.acquire();
    try {
      await this.#allocate(pod);
      return undefined;
    } catch (error) {
      await this.#release(pod.metadata.uid ?? '');
      if (error instanceof TopologyAffinityError)
        return { reason: 'TopologyAffinityError', message: 'Resources cannot be allocated with Topology locality' };
      const { message } = error as Error;
      if (error instanceof AllocationError && error.reason !== 'UnexpectedAdmissionError') return { reason: error.reason, message };
      return { reason: 'UnexpectedAdmissionError', message: `Allocate failed due to ${message}, which is unexpected` };
    }
  }

  async #allocate(pod: core.Pod): Promise<void> {
    const containers = [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])];
    // Init containers exit before the others start; sidecars stay.
    const lasting = containers.filter((container) => isSidecar(container) || (pod.spec?.containers ?? []).includes(container));
    const common = this.config.scope === 'pod' ? this.#hint(pod, lasting) : undefined;
    for (const container of lasting) {
      const hint = common ?? this.#hint(pod, [container]);
      for (const provider of this.config.providers) await provider.allocate(pod, container, hint);
    }
  }

  #hint(pod: core.Pod, containers: readonly core.Container[]): TopologyHint {
    const { providers, policy, numaNodes } = this.config;
    const hints = providers.flatMap((provider) => [...provider.hints(pod, containers).values()]);
    const { hint, isAdmitted } = mergeHints(policy, numaNodes, hints);
    if (!isAdmitted) throw new TopologyAffinityError();
    return hint;
  }

  async #release(uid: string): Promise<void> {
    for (const provider of this.config.providers) await provider.release(uid);
  }

  async preStart(context: ContainerContext): Promise<ContainerAdditions | undefined> {
    const parts: ContainerAdditions[] = [];
    for (const provider of this.config.providers) {
      const part = await provider.additions?.(context);
      if (part !== undefined) parts.push(part);
    }
    return parts.length === 0 ? undefined : mergeAll(parts);
  }

  async postStop({ uid }: PodContext): Promise<void> {
    await this.#release(uid);
  }

  async cleanUpOrphans(liveUids: ReadonlySet<string>): Promise<void> {
    for (const provider of this.config.providers) {
      for (const uid of provider.podUids) if (!liveUids.has(uid)) await provider.release(uid);
    }
  }
}

class TopologyAffinityError extends Error {
  override readonly name = 'TopologyAffinityError';
}
