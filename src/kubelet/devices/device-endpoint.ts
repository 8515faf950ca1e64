import type { Clock, GrpcClient } from '#base';
import { pluginClient } from '../plugin-client.ts';
import {
  Allocate,
  type ContainerAllocation,
  type DevicePluginOptions,
  GetPreferredAllocation,
  HEALTHY,
  ListAndWatch,
  type PluginDevice,
  PreStartContainer,
} from './messages.ts';

export interface DeviceEndpointOptions {
  readonly resourceName: string;
  readonly socket: string;
  readonly options: DevicePluginOptions;
}

const CALL_TIMEOUT_MS = 10_000;
const PRE_START_TIMEOUT_MS = 30_000;

/** One device plugin, from registration to disconnect. */
export class DeviceEndpoint implements Disposable {
  readonly resourceName: string;
  readonly #options: DevicePluginOptions;
  readonly #client: GrpcClient;
  readonly #stop = new AbortController();

  constructor({ resourceName, socket, options }: DeviceEndpointOptions, clock: Clock) {
    this.resourceName = resourceName;
    this.#options = options;
    this.#client = pluginClient(socket, clock);
  }

  /** Calls `onDevices` whenever the devices change; the plugin waits for it. Settles when the plugin disconnects. */
  async watch(onDevices: (devices: readonly PluginDevice[]) => Promise<void>): Promise<void> {
    const { signal } = this.#stop;
    for await (const { devices } of this.#client.serverStream(ListAndWatch, {}, { signal })) await onDevices(devices);
  }

  async allocate(ids: readonly string[]): Promise<ContainerAllocation | undefined> {
    const request = { containerRequests: [{ deviceIds: ids }] };
    const { containerResponses } = await this.#client.unary(Allocate, request, { timeoutMs: CALL_TIMEOUT_MS });
    return containerResponses[0];
  }

  /** Undefined: the plugin has no preference. */
  async preferred(available: readonly string[], mustInclude: readonly string[], size: number): Promise<readonly string[] | undefined> {
    if (!this.#options.getPreferredAllocationAvailable) return undefined;
    const request = { availableDeviceIds: available, mustIncludeDeviceIds: mustInclude, allocationSize: size };
    const { containerResponses } = await this.#client.unary(
      GetPreferredAllocation,
      { containerRequests: [request] },
      { timeoutMs: CALL_TIMEOUT_MS },
    );
    return containerResponses[0]?.deviceIds;
  }

  async preStart(ids: readonly string[]): Promise<void> {
    if (this.#options.preStartRequired)
      await this.#client.unary(PreStartContainer, { deviceIds: ids }, { timeoutMs: PRE_START_TIMEOUT_MS });
  }

  [Symbol.dispose](): void {
    this.#stop.abort();
    this.#client.close();
  }
}

/** A device in the node's inventory. */
export interface NodeDevice {
  readonly isHealthy: boolean;
  /** Empty: unknown topology. */
  readonly numaNodes: readonly number[];
}

/** NUMA nodes that the machine lacks are ignored. */
export function nodeDevice({ health, topology }: PluginDevice, machineNodes: readonly number[]): NodeDevice {
  const numaNodes = (topology?.nodes ?? []).map(({ id }) => id).filter((id) => machineNodes.includes(id));
  return { isHealthy: health === HEALTHY, numaNodes };
}
