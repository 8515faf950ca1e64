import type { core } from '#api';
import type { Client } from '#client';
import type { ContainerConfig, ContainerResources, SandboxConfig, SandboxResources, UserNamespace } from '../../cri/runtime.ts';
import type { NodeParts } from '../../node/node-parts.ts';
import type { ContainerAdditions } from '../hooks/pod-hook.ts';
import type { PodEvents } from '../pod-events.ts';
import { type ContainerConfigFacts, type ContainerConfigs, specHash } from '../start-container.ts';
import { containerConfig } from './container-config.ts';
import { containerResources, sandboxResources } from './container-resources.ts';
import { environment } from './environment.ts';
import { namespaceOptions } from './namespaces.ts';
import { runtimeHandler } from './runtime-handler.ts';
import { podGroups, sandboxConfig } from './sandbox-config.ts';
import { maskedPaths, securityContext } from './security-context.ts';

export interface PodConfigsOptions {
  readonly client: Client;
  readonly hostIps: readonly string[];
  readonly allocatable: Readonly<Record<string, string>>;
  readonly memoryCapacityBytes: number;
  readonly clusterDomain: string;
  readonly parts: NodeParts | undefined;
}

/** Builds CRI configurations of pods and containers on one node. */
export class PodConfigs implements ContainerConfigs {
  #maskedPaths: readonly string[] | undefined;

  constructor(private readonly options: PodConfigsOptions) {}

  runtimeHandler(pod: core.Pod): Promise<string> {
    return runtimeHandler(pod, this.options.client);
  }

  async sandbox(pod: core.Pod, attempt: number, events: PodEvents): Promise<SandboxConfig> {
    const { parts, clusterDomain } = this.options;
    if (parts === undefined) return sandboxConfig(pod, { attempt, clusterDomain });
    return sandboxConfig(pod, {
      ...{ attempt, clusterDomain, userns: await this.#userNamespace(pod, parts) },
      logDirectory: parts.logDirectory(pod),
      dnsConfig: await parts.dnsConfig(pod, events),
      cgroupParent: parts.cgroupParent(pod),
      resources: this.sandboxResources(pod),
    });
  }

  async #userNamespace(pod: core.Pod, { userNamespaces }: NodeParts): Promise<UserNamespace | undefined> {
    if (pod.spec?.hostUsers !== false) return undefined;
    return userNamespaces.allocate(pod, await this.runtimeHandler(pod));
  }

  environment(pod: core.Pod, container: core.Container, podIps: readonly string[]): Promise<ContainerConfig['envs']> {
    const { client, hostIps, allocatable, parts } = this.options;
    const addresses = pod.spec?.hostNetwork === true ? hostIps : podIps;
    const volumePath = (volume: string) => `${parts?.rootDir}/pods/${pod.metadata.uid}/volumes/kubernetes.io~empty-dir/${volume}`;
    return environment({
      ...{ pod, container, podIps: addresses, hostIps, client, allocatable, services: parts?.services },
      ...(parts && { volumePath }),
    });
  }

  resources(pod: core.Pod, container: core.Container): ContainerResources {
    const { parts, memoryCapacityBytes } = this.options;
    return containerResources(pod, container, { hugePageSizes: [], ...parts?.cgroupFacts, memoryCapacityBytes });
  }

  sandboxResources(pod: core.Pod): SandboxResources {
    return sandboxResources(pod, this.options.parts?.cgroupFacts ?? { hugePageSizes: [] });
  }

  container(pod: core.Pod, container: core.Container, facts: ContainerConfigFacts): ContainerConfig {
    const { attempt, image, envs, additions, targetId } = facts;
    const { parts } = this.options;
    const userns = parts?.userNamespaces.of(pod.metadata.uid ?? '');
    const options = namespaceOptions(pod, userns);
    this.#maskedPaths ??= maskedPaths();
    return containerConfig(pod, container, {
      ...{ attempt, envs, additions: withIdMappings(additions, userns), imageRef: image.id, specHash: specHash(container) },
      resources: this.resources(pod, container),
      securityContext: securityContext(pod, container, {
        image,
        namespaceOptions: targetId === undefined ? options : { ...options, pid: 'target', targetId },
        supplementalGroups: podGroups(pod),
        seccompDefault: parts?.seccompDefault ?? false,
        seccompDirectory: `${parts?.rootDir ?? ''}/seccomp`,
        maskedPaths: this.#maskedPaths,
      }),
    });
  }

  async started(container: Parameters<NodeParts['started']>[0]): Promise<void> {
    await this.options.parts?.started(container);
  }
}

/** So that files of volumes have the same owners in the container as on the host. */
function withIdMappings(additions: ContainerAdditions, userns: UserNamespace | undefined): ContainerAdditions {
  if (userns === undefined) return additions;
  const mappings = { uidMappings: userns.uids, gidMappings: userns.gids };
  return { ...additions, mounts: (additions.mounts ?? []).map((mount) => ({ ...mount, ...mappings })) };
}
