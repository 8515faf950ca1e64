import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { core } from '#api';
import { GrpcError, GrpcServer, grpcStatus, type Logger, unaryMethod } from '#base';
import type { DeviceManager } from '../devices/device-manager.ts';
import type { DraManager } from '../dra/dra-manager.ts';
import type { PodHook } from '../pods/hooks/pod-hook.ts';
import { isSidecar } from '../pods/pod-state.ts';
import type { CpuManager } from '../resources/cpu-manager.ts';
import type { MemoryManager } from '../resources/memory-manager.ts';
import {
  type AllocatableResourcesMessage,
  type ContainerResourcesMessage,
  GetAllocatableResources,
  GetPodResources,
  ListPodResources,
  type PodResourcesMessage,
} from './messages.ts';

/** The resource managers. Absent: the resource is not managed. */
export interface PodResourcesSources {
  readonly devices: DeviceManager;
  readonly cpus?: CpuManager | undefined;
  readonly memory?: MemoryManager | undefined;
  readonly dynamic: Pick<DraManager, 'devicesOf'>;
  readonly logger: Logger;
}

/** The pod resources API: shows monitoring agents, over a socket, the devices, CPUs and memory of each container. */
export class PodResourcesServer implements PodHook, AsyncDisposable {
  readonly name = 'pod-resources';
  readonly #pods = new Map<string, core.Pod>();
  #server: GrpcServer | undefined;

  constructor(private readonly sources: PodResourcesSources) {}

  /** `directory`: upstream uses `/var/lib/kubelet/pod-resources`. */
  async start(directory: string): Promise<void> {
    await mkdir(directory, { recursive: true, mode: 0o750 });
    this.#server = await GrpcServer.start({
      logger: this.sources.logger,
      endpoint: `unix://${join(directory, 'kubelet.sock')}`,
      methods: [
        unaryMethod(ListPodResources, () => ({ podResources: this.#activePods().map((pod) => this.#resourcesOf(pod)) })),
        unaryMethod(GetPodResources, ({ podName, podNamespace }) => ({
          podResources: this.#resourcesOf(this.#pod(podNamespace, podName)),
        })),
        unaryMethod(GetAllocatableResources, () => this.#allocatable()),
      ],
    });
  }

  observe(pod: core.Pod): void {
    this.#pods.set(pod.metadata.uid ?? '', pod);
  }

  async cleanUp({ uid }: { readonly uid: string }): Promise<void> {
    this.#pods.delete(uid);
  }

  #activePods(): readonly core.Pod[] {
    return [...this.#pods.values()].filter(({ status }) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed');
  }

  #pod(namespace: string, name: string): core.Pod {
    const pod = [...this.#pods.values()].find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
    if (pod === undefined) throw new GrpcError(grpcStatus.unknown, `pod ${name} in namespace ${namespace} not found`);
    return pod;
  }

  #resourcesOf(pod: core.Pod): PodResourcesMessage {
    const { name, namespace } = pod.metadata;
    const containers = [...(pod.spec?.initContainers ?? []).filter(isSidecar), ...(pod.spec?.containers ?? [])];
    return { name, namespace, containers: containers.map((container) => this.#containerResources(pod, container)) };
  }

  #containerResources(pod: core.Pod, container: core.Container): ContainerResourcesMessage {
    const { devices, cpus, memory } = this.sources;
    const { uid = '' } = pod.metadata;
    const block = memory?.blockOf(uid, container.name);
    return {
      name: container.name,
      devices: (devices.devicesOf(uid).get(container.name) ?? []).flatMap(({ resourceName, deviceIds }) =>
        deviceIds.map((id) => deviceMessage(resourceName, id, devices.numaNodesOf(resourceName, id))),
      ),
      cpuIds: [...(cpus?.cpusOf(uid, container.name) ?? [])],
      memory: block === undefined ? [] : [memoryMessage(block.size, block.numaAffinity)],
      dynamicResources: this.#dynamicResources(pod, container),
    };
  }

  #dynamicResources(pod: core.Pod, container: core.Container): NonNullable<ContainerResourcesMessage['dynamicResources']> {
    return this.sources.dynamic.devicesOf(pod, container).map(({ claim, driver, poolName, deviceName, cdiDeviceIds }) => ({
      claimName: claim.name,
      claimNamespace: claim.namespace,
      claimResources: [{ cdiDevices: cdiDeviceIds.map((name) => ({ name })), driverName: driver, poolName, deviceName }],
    }));
  }

  #allocatable(): AllocatableResourcesMessage {
    const { devices, cpus, memory } = this.sources;
    return {
      devices: devices.healthy.map(({ resourceName, id, numaNodes }) => deviceMessage(resourceName, id, numaNodes)),
      cpuIds: [...(cpus?.allocatableCpus ?? [])],
      memory: Array.from(memory?.capacity ?? [], ([node, size]) => memoryMessage(size, [node])),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server?.[Symbol.asyncDispose]();
  }
}

function deviceMessage(resourceName: string, id: string, numaNodes: readonly number[]) {
  return { resourceName, deviceIds: [id], ...(numaNodes.length > 0 && { topology: topologyOf(numaNodes) }) };
}

function memoryMessage(size: number, numaNodes: readonly number[]) {
  return { memoryType: 'memory', size, topology: topologyOf(numaNodes) };
}

function topologyOf(numaNodes: readonly number[]) {
  return { nodes: numaNodes.map((id) => ({ id })) };
}
