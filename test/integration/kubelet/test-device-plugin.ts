import path from 'node:path';
import { GrpcClient, GrpcServer, realClock, streamingMethod, unaryMethod } from '#base';
import { devicePlugins as api } from '#kubelet';

export interface TestDevicePluginOptions {
  readonly resourceName: string;
  /** The kubelet's device plugin directory. */
  readonly directory: string;
  readonly devices: readonly string[];
}

/** A device plugin for tests: its devices are files, and each allocation sets a variable with their names. */
export class TestDevicePlugin implements AsyncDisposable {
  readonly calls: string[] = [];
  #health = new Map<string, string>();
  #changed = later();
  #server: GrpcServer | undefined;

  constructor(private readonly options: TestDevicePluginOptions) {
    for (const id of options.devices) this.#health.set(id, api.HEALTHY);
  }

  async start(): Promise<void> {
    const { directory, resourceName } = this.options;
    const endpoint = `${resourceName.replace('/', '-')}.sock`;
    this.#server = await GrpcServer.start({ endpoint: `unix://${path.join(directory, endpoint)}`, methods: this.#methods() });
    using kubelet = new GrpcClient({ endpoint: `unix://${path.join(directory, 'kubelet.sock')}`, clock: realClock });
    const options = { preStartRequired: true, getPreferredAllocationAvailable: true };
    await kubelet.unary(api.Register, { version: 'v1beta1', endpoint, resourceName, options }, { timeoutMs: 5000 });
  }

  setHealth(id: string, health: string): void {
    this.#health.set(id, health);
    const { resolve } = this.#changed;
    this.#changed = later();
    resolve();
  }

  #methods() {
    const { resourceName } = this.options;
    const devices = () => Array.from(this.#health, ([id, health]) => ({ id, health }));
    return [
      streamingMethod(api.ListAndWatch, (_, { signal }) => this.#watch(devices, signal)),
      unaryMethod(api.GetPreferredAllocation, ({ containerRequests }) => ({
        // Prefers the last ones, which shows whether the kubelet asked.
        containerResponses: containerRequests.map(({ availableDeviceIds, allocationSize }) => ({
          deviceIds: availableDeviceIds.toSorted().slice(-allocationSize),
        })),
      })),
      unaryMethod(api.Allocate, ({ containerRequests }) => {
        const ids = containerRequests[0]?.deviceIds ?? [];
        this.calls.push(`allocate ${ids.join()}`);
        const device = { containerPath: '/dev/test-null', hostPath: '/dev/null', permissions: 'rw' };
        return {
          containerResponses: [{ envs: { TEST_DEVICES: ids.join() }, devices: [device], annotations: { [resourceName]: 'given' } }],
        };
      }),
      unaryMethod(api.PreStartContainer, ({ deviceIds }) => {
        this.calls.push(`prestart ${deviceIds.join()}`);
        return {};
      }),
    ];
  }

  async *#watch(devices: () => readonly { id: string; health: string }[], signal: AbortSignal) {
    const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    while (!signal.aborted) {
      const { promise } = this.#changed;
      yield { devices: devices() };
      await Promise.race([promise, aborted]);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server?.[Symbol.asyncDispose]();
  }
}

function later() {
  let resolve: () => void = () => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
