import type { core } from '#api';
import { type Clock, type Logger, lookupTable, mergeAll, type TimerHandle } from '#base';
import { Quantity } from '#machinery';
import type { ContainerAdditions, ContainerContext } from '../pods/hooks/pod-hook.ts';
import { StartFailure } from '../pods/start-failure.ts';
import { AllocationError } from '../resources/hint-provider.ts';
import type { ResourceProvider } from '../resources/resource-managers.ts';
import type { StateFile } from '../resources/state-file.ts';
import type { TopologyHint } from '../resources/topology-hints.ts';
import { type Devices, deviceHints, devicesInOrder } from './choose-devices.ts';
import { DeviceEndpoint, type DeviceEndpointOptions, type NodeDevice, nodeDevice } from './device-endpoint.ts';
import type { ContainerAllocation, PluginDevice } from './messages.ts';

/** Devices of one resource assigned to a container. */
interface Assignment {
  readonly resourceName: string;
  readonly deviceIds: readonly string[];
  readonly allocation: ContainerAllocation;
}

export interface DeviceState {
  /** By pod and container. */
  readonly entries: Readonly<Record<string, Readonly<Record<string, readonly Assignment[]>>>>;
  /** The healthy devices when it was written: shown by a restarted kubelet until its plugins are back. */
  readonly registered: Readonly<Record<string, readonly string[]>>;
}

export interface DeviceManagerDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly file: StateFile<DeviceState>;
  readonly numaNodes: readonly number[];
  /** The node's reported resources have changed. */
  onChange(): void;
}

interface Resource {
  endpoint: DeviceEndpoint | undefined;
  devices: Devices;
  forget: TimerHandle | undefined;
}

/** How long the devices of a disconnected plugin still count. */
const DISCONNECTED_GRACE_MS = 300_000;

/** Far more than any machine has: each is in the node's status. */
const MAX_RESOURCES = 1000;

/** The devices of device plugins and their allocation to containers. */
export class DeviceManager implements ResourceProvider, AsyncDisposable {
  readonly name = 'devices';
  readonly #resources = new Map<string, Resource>();
  readonly #assigned = new Map<string, Map<string, readonly Assignment[]>>();
  readonly #watches = new Set<Promise<void>>();

  constructor(private readonly deps: DeviceManagerDeps) {}

  /** Restores the allocations of an earlier kubelet. Devices become healthy once their plugins report them. */
  async open(): Promise<void> {
    const saved = await this.deps.file.read();
    for (const [uid, containers] of Object.entries(saved?.entries ?? {})) this.#assigned.set(uid, new Map(Object.entries(containers)));
    for (const [name, ids] of Object.entries(saved?.registered ?? {})) {
      const devices = new Map(ids.map((id) => [id, { isHealthy: false, numaNodes: [] } as NodeDevice]));
      this.#resources.set(name, { endpoint: undefined, devices, forget: this.#forgetLater(name) });
    }
  }

  /** Whether there is no room for one more resource. */
  isFull(resourceName: string): boolean {
    return this.#resources.size >= MAX_RESOURCES && !this.#resources.has(resourceName);
  }

  /** Replaces an earlier plugin of the same resource. */
  register(options: DeviceEndpointOptions): void {
    const { clock, logger } = this.deps;
    const { resourceName } = options;
    const before = this.#resources.get(resourceName);
    before?.endpoint?.[Symbol.dispose]();
    before?.forget?.cancel();
    const endpoint = new DeviceEndpoint(options, clock);
    this.#resources.set(resourceName, { endpoint, devices: before?.devices ?? new Map(), forget: undefined });
    const watch = endpoint
      .watch((devices) => this.#update(endpoint, devices))
      .catch((error: unknown) => logger.debug('the watch of a device plugin ended', { resourceName, error }))
      .then(() => this.#onDisconnect(endpoint))
      .finally(() => this.#watches.delete(watch));
    this.#watches.add(watch);
  }

  /** Never rejects. */
  async #update(endpoint: DeviceEndpoint, devices: readonly PluginDevice[]): Promise<void> {
    const resource = this.#resources.get(endpoint.resourceName);
    if (resource?.endpoint !== endpoint) return;
    resource.devices = new Map(devices.map((device) => [device.id, nodeDevice(device, this.deps.numaNodes)]));
    this.deps.onChange();
    await this.#save().catch((error: unknown) => this.deps.logger.warn('the devices of the node could not be saved', { error }));
  }

  /** A disconnected plugin may come back: its devices count, but are not allocated. */
  #onDisconnect(endpoint: DeviceEndpoint): void {
    const resource = this.#resources.get(endpoint.resourceName);
    endpoint[Symbol.dispose]();
    if (resource?.endpoint !== endpoint) return;
    resource.endpoint = undefined;
    resource.devices = new Map(Array.from(resource.devices, ([id, device]) => [id, { ...device, isHealthy: false }]));
    resource.forget = this.#forgetLater(endpoint.resourceName);
    this.deps.onChange();
  }

  #forgetLater(name: string): TimerHandle {
    return this.deps.clock.setTimer(DISCONNECTED_GRACE_MS, () => {
      this.#resources.delete(name);
      this.deps.onChange();
    });
  }

  /** For node.status. */
  get nodeResources(): { readonly capacity: Readonly<Record<string, string>>; readonly allocatable: Readonly<Record<string, string>> } {
    const amounts = (isCounted: (device: NodeDevice) => boolean) =>
      lookupTable(
        Object.fromEntries(
          Array.from(this.#resources, ([name, { devices }]) => [name, String([...devices.values()].filter(isCounted).length)]),
        ),
      );
    return { capacity: amounts(() => true), allocatable: amounts(({ isHealthy }) => isHealthy) };
  }

  hints(_: core.Pod, containers: readonly core.Container[]): ReadonlyMap<string, readonly TopologyHint[] | undefined> {
    const hints = new Map<string, readonly TopologyHint[] | undefined>();
    for (const [name, { devices }] of this.#resources) {
      const amount = containers.reduce((sum, container) => sum + requestedAmount(container, name), 0);
      if (amount > 0) hints.set(name, deviceHints(this.deps.numaNodes, { amount, devices, free: this.#free(name) }));
    }
    return hints;
  }

  async allocate(pod: core.Pod, container: core.Container, hint: TopologyHint): Promise<void> {
    const uid = pod.metadata.uid ?? '';
    const own = this.#assigned.get(uid) ?? new Map<string, readonly Assignment[]>();
    if (own.has(container.name)) return;
    const assignments: Assignment[] = [];
    for (const [resourceName, resource] of this.#resources) {
      const amount = requestedAmount(container, resourceName);
      if (amount === 0) continue;
      assignments.push(await this.#allocateOne({ resourceName, resource, amount, hint }));
    }
    if (assignments.length === 0) return;
    this.#assigned.set(uid, own.set(container.name, assignments));
    await this.#save();
  }

  async #allocateOne(request: {
    readonly resourceName: string;
    readonly resource: Resource;
    readonly amount: number;
    readonly hint: TopologyHint;
  }): Promise<Assignment> {
    const { resourceName, resource, amount, hint } = request;
    const { endpoint, devices } = resource;
    const isAnyHealthy = [...devices.values()].some(({ isHealthy }) => isHealthy);
    if (!isAnyHealthy) throw new AllocationError(`no healthy devices present; cannot allocate unhealthy devices ${resourceName}`);
    if (endpoint === undefined) throw new AllocationError(`cannot allocate unregistered device ${resourceName}`);
    const free = this.#free(resourceName);
    if (free.length < amount)
      throw new AllocationError(
        `requested number of devices unavailable for ${resourceName}. Requested: ${amount}, Available: ${free.length}`,
      );
    const { sorted, aligned } = devicesInOrder({ amount, devices, free }, hint);
    const offered = aligned.length >= amount ? aligned : sorted;
    const mustInclude = aligned.length >= amount ? [] : aligned;
    const preferred = (await endpoint.preferred(offered, mustInclude, amount)) ?? [];
    const candidates = new Set(offered);
    const isValid = preferred.length === amount && new Set(preferred).size === amount && preferred.every((id) => candidates.has(id));
    const deviceIds = isValid ? preferred : offered.slice(0, amount);
    const allocation = await endpoint.allocate(deviceIds);
    if (allocation === undefined) throw new AllocationError(`the plugin of ${resourceName} answered nothing to the allocation`);
    return { resourceName, deviceIds, allocation };
  }

  #free(resourceName: string): readonly string[] {
    const usedDevices = new Set<string>();
    for (const containers of this.#assigned.values()) {
      for (const assignments of containers.values()) {
        for (const assignment of assignments)
          if (assignment.resourceName === resourceName) for (const id of assignment.deviceIds) usedDevices.add(id);
      }
    }
    const devices = this.#resources.get(resourceName)?.devices ?? new Map<string, NodeDevice>();
    return [...devices].flatMap(([id, { isHealthy }]) => (isHealthy && !usedDevices.has(id) ? [id] : []));
  }

  /** The runtime configuration for the container's devices. */
  async additions({ uid, container }: ContainerContext): Promise<ContainerAdditions | undefined> {
    const assignments = this.#assigned.get(uid)?.get(container.name);
    if (assignments === undefined) return undefined;
    for (const { resourceName, deviceIds } of assignments) {
      try {
        await this.#resources.get(resourceName)?.endpoint?.preStart(deviceIds);
      } catch (error) {
        const text = `device plugin PreStartContainer rpc failed with err: ${(error as Error).message}`;
        throw new StartFailure('PreStartHookError', text);
      }
    }
    return mergedAdditions(assignments.map(({ allocation }) => allocation));
  }

  /** Devices by container, for the pod resources API. */
  devicesOf(uid: string): ReadonlyMap<string, readonly Pick<Assignment, 'resourceName' | 'deviceIds'>[]> {
    return this.#assigned.get(uid) ?? new Map();
  }

  /** The health of a container's devices. Of a plugin that has gone nothing is known. */
  healthOf(uid: string, container: string): readonly core.ResourceStatus[] {
    const own = this.#assigned.get(uid)?.get(container) ?? [];
    const stateOf = (resourceName: string, id: string) => {
      const { endpoint, devices } = this.#resources.get(resourceName) ?? {};
      const device = devices?.get(id);
      if (endpoint === undefined || device === undefined) return 'Unknown';
      return device.isHealthy ? 'Healthy' : 'Unhealthy';
    };
    return own.map(({ resourceName: name, deviceIds }) => ({
      name,
      resources: deviceIds.map((id) => ({ resourceID: id, health: stateOf(name, id) })),
    }));
  }

  /** Empty: unknown topology. */
  numaNodesOf(resourceName: string, id: string): readonly number[] {
    return this.#resources.get(resourceName)?.devices.get(id)?.numaNodes ?? [];
  }

  /** Allocatable devices, allocated or not. */
  get healthy(): readonly { readonly resourceName: string; readonly id: string; readonly numaNodes: readonly number[] }[] {
    return Array.from(this.#resources, ([resourceName, { devices }]) =>
      [...devices].flatMap(([id, { isHealthy, numaNodes }]) => (isHealthy ? [{ resourceName, id, numaNodes }] : [])),
    ).flat();
  }

  async release(uid: string): Promise<void> {
    if (this.#assigned.delete(uid)) await this.#save();
  }

  get podUids(): readonly string[] {
    return [...this.#assigned.keys()];
  }

  async #save(): Promise<void> {
    const entries = Object.fromEntries(Array.from(this.#assigned, ([uid, containers]) => [uid, Object.fromEntries(containers)]));
    const registered = Object.fromEntries(Array.from(this.#resources, ([name, { devices }]) => [name, [...devices.keys()]]));
    await this.deps.file.write({ entries, registered });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { endpoint, forget } of this.#resources.values()) {
      forget?.cancel();
      endpoint?.[Symbol.dispose]();
    }
    const watches = [...this.#watches];
    this.#resources.clear();
    await Promise.all(watches);
  }
}

function requestedAmount({ resources }: core.Container, resourceName: string): number {
  return Quantity.parse(resources?.limits?.[resourceName] ?? '0').value();
}

function mergedAdditions(allocations: readonly ContainerAllocation[]): ContainerAdditions {
  return {
    envs: allocations.flatMap(({ envs }) => Object.entries(envs).map(([name, value]) => ({ name, value }))),
    mounts: allocations.flatMap(({ mounts }) =>
      mounts.map(({ containerPath, hostPath, readOnly }) => ({ containerPath, hostPath, readonly: readOnly })),
    ),
    devices: allocations.flatMap(({ devices }) => devices),
    cdiDevices: allocations.flatMap(({ cdiDevices }) => cdiDevices.map(({ name }) => name)),
    annotations: mergeAll(allocations.map(({ annotations }) => annotations)),
  };
}
