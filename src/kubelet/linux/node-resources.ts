import { join } from 'node:path';
import type { core } from '#api';
import { type Clock, type Logger, stopAll } from '#base';
import { Quantity } from '#machinery';
import type { ContainerRuntime } from '../cri/runtime.ts';
import { DeviceManager } from '../devices/device-manager.ts';
import { startDeviceRegistration } from '../devices/device-registration.ts';
import type { NodeConfig } from '../node/node-config.ts';
import type { PodHook } from '../pods/hooks/pod-hook.ts';
import { CONTAINER_NAME, POD_UID } from '../pods/labels.ts';
import { CpuManager, type CpuManagerOptions, type CpuManagerPolicy } from '../resources/cpu-manager.ts';
import { formatCpuSet, parseCpuSet } from '../resources/cpu-set.ts';
import { type MachineTopology, readMachineTopology } from '../resources/machine-topology.ts';
import { MemoryManager, type MemoryManagerPolicy, type MemoryReservation } from '../resources/memory-manager.ts';
import { ResourceManagers, type ResourceProvider } from '../resources/resource-managers.ts';
import { StateFile } from '../resources/state-file.ts';
import { staticResizeProblem } from '../resources/static-resize.ts';
import { MAX_NUMA_NODES, type TopologyPolicy, type TopologyScope } from '../resources/topology-hints.ts';
import type { PodRejection } from '../status/pod-status.ts';

/** As in KubeletConfiguration. */
export interface NodeResourcesConfig {
  /** Default `none`. */
  readonly cpuManagerPolicy?: CpuManagerPolicy;
  readonly cpuManagerPolicyOptions?: CpuManagerOptions;
  /** Such as `0-1`. Default: as many CPUs as are reserved. */
  readonly reservedSystemCPUs?: string;
  /** Default `None`. */
  readonly memoryManagerPolicy?: MemoryManagerPolicy;
  readonly reservedMemory?: readonly MemoryReservation[];
  /** Default `none`. */
  readonly topologyManagerPolicy?: TopologyPolicy;
  /** Default `container`. */
  readonly topologyManagerScope?: TopologyScope;
}

export interface NodeResourcesDeps {
  readonly runtime: ContainerRuntime;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly rootDir: string;
  readonly node: NodeConfig;
}

/** Exclusive resources of containers. */
export interface NodeResources extends AsyncDisposable {
  readonly hook: PodHook;
  readonly devices: DeviceManager;
  /** Undefined with the policy `none`. */
  readonly cpus: CpuManager | undefined;
  readonly memory: MemoryManager | undefined;
  admit(pod: core.Pod): Promise<PodRejection | undefined>;
  resizeProblem(desired: core.Pod, allocated: core.Pod): PodRejection | undefined;
  onChange(listener: () => void): Disposable;
}

export async function openNodeResources(config: NodeResourcesConfig, deps: NodeResourcesDeps): Promise<NodeResources> {
  const { rootDir } = deps;
  const topology = await readMachineTopology();
  const numaNodes = topology.numaNodes.map(({ id }) => id);
  const { topologyManagerPolicy = 'none', topologyManagerScope = 'container' } = config;
  if (topologyManagerPolicy !== 'none' && numaNodes.length > MAX_NUMA_NODES)
    throw new TypeError(`unsupported on machines with more than ${MAX_NUMA_NODES} NUMA Nodes`);
  const listeners = new Set<() => void>();
  const onChange = () => {
    for (const listener of listeners) listener();
  };
  const directory = join(rootDir, 'device-plugins');
  const file = new StateFile<never>(join(directory, 'kubelet_internal_checkpoint'));
  const devices = new DeviceManager({ ...deps, file, numaNodes, onChange });
  await devices.open();
  const cpus = await openCpuManager(config, topology, deps);
  const memory = await openMemoryManager(config, topology, rootDir);
  const providers: ResourceProvider[] = [devices];
  if (cpus !== undefined) providers.push(withCpus(cpus));
  if (memory !== undefined) providers.push(withMemory(memory));
  const managers = new ResourceManagers({ providers, numaNodes, policy: topologyManagerPolicy, scope: topologyManagerScope });
  const registration = await startDeviceRegistration(directory, devices, deps.logger);
  const shared = cpus && new SharedCpus(cpus, deps);
  return {
    hook: {
      name: managers.name,
      preStart: (context) => managers.preStart(context),
      postStop: async (context) => {
        await managers.postStop(context);
        await shared?.apply();
      },
      cleanUpOrphans: (uids) => managers.cleanUpOrphans(uids),
    },
    ...{ devices, cpus, memory },
    async admit(pod) {
      const rejection = await managers.admit(pod);
      await shared?.apply();
      return rejection;
    },
    resizeProblem: (desired, allocated) =>
      staticResizeProblem(desired, allocated, { cpu: cpus !== undefined, memory: memory !== undefined }),
    onChange(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    [Symbol.asyncDispose]: () => stopAll([devices, registration]),
  };
}

async function openCpuManager(config: NodeResourcesConfig, topology: MachineTopology, deps: NodeResourcesDeps) {
  if ((config.cpuManagerPolicy ?? 'none') === 'none') return undefined;
  const { capacity, podsLimit } = deps.node;
  const reservedMilli = Quantity.parse(capacity.cpu ?? '0').milliValue() - podsLimit.milliCpu;
  const reserved = { reservedCpus: parseCpuSet(config.reservedSystemCPUs ?? ''), reservedCount: Math.ceil(reservedMilli / 1000) };
  const file = new StateFile<never>(join(deps.rootDir, 'cpu_manager_state'));
  const manager = new CpuManager({ topology, options: config.cpuManagerPolicyOptions ?? {}, ...reserved }, file);
  await manager.open();
  return manager;
}

async function openMemoryManager(config: NodeResourcesConfig, { numaNodes }: MachineTopology, rootDir: string) {
  if ((config.memoryManagerPolicy ?? 'None') === 'None') return undefined;
  const file = new StateFile<never>(join(rootDir, 'memory_manager_state'));
  const manager = new MemoryManager({ numaNodes, reservedMemory: config.reservedMemory ?? [] }, file);
  await manager.open();
  return manager;
}

function withCpus(manager: CpuManager): ResourceProvider {
  return Object.assign(manager, {
    additions: async ({ uid, container }: { readonly uid: string; readonly container: core.Container }) => ({
      cpusetCpus: formatCpuSet(manager.cpusOf(uid, container.name) ?? manager.sharedCpus),
    }),
  });
}

function withMemory(manager: MemoryManager): ResourceProvider {
  return Object.assign(manager, {
    additions: async ({ uid, container }: { readonly uid: string; readonly container: core.Container }) => {
      const nodes = manager.nodesOf(uid, container.name);
      return nodes === undefined ? undefined : { cpusetMems: formatCpuSet(nodes) };
    },
  });
}

/** Keeps running containers off the CPUs that are exclusive to others. */
class SharedCpus {
  readonly #applied = new Map<string, string>();

  constructor(
    private readonly cpus: CpuManager,
    private readonly deps: Pick<NodeResourcesDeps, 'runtime' | 'logger'>,
  ) {}

  async apply(): Promise<void> {
    const { runtime, logger } = this.deps;
    const running = await runtime.listContainers({ state: 'running' });
    const present = new Set(running.map(({ id }) => id));
    for (const id of this.#applied.keys()) if (!present.has(id)) this.#applied.delete(id);
    for (const { id, labels } of running) {
      const cpusetCpus = formatCpuSet(this.cpus.cpusOf(labels[POD_UID] ?? '', labels[CONTAINER_NAME] ?? '') ?? this.cpus.sharedCpus);
      if (this.#applied.get(id) === cpusetCpus) continue;
      try {
        await runtime.updateContainerResources(id, { linux: { cpusetCpus } });
        this.#applied.set(id, cpusetCpus);
      } catch (error) {
        logger.warn('the CPUs of a container could not be updated', { container: id, error });
      }
    }
  }
}
