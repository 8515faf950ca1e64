import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { AsyncMutex, GrpcServer, type MethodEntry, realClock, unaryMethod } from '#base';
import { csi, hostMounter } from '#kubelet';
import { controllerService } from './controller-service.ts';
import { DriverState } from './driver-state.ts';
import { Faults } from './faults.ts';
import { nodeService } from './node-service.ts';
import { type CallLog, servedMethods } from './service-method.ts';

export interface CsiDriverOptions {
  readonly name: string;
  readonly nodeId: string;
  /** The directory of volumes and of the driver's state. */
  readonly root: string;
  /** The driver's socket. */
  readonly socket: string;
  /** `ROOT/plugins_registry/NAME-reg.sock`: where it registers with a kubelet. Absent: it does not. */
  readonly registrationSocket?: string;
  /** The topology of the node. With neither this nor `places`, its volumes are accessible from everywhere. */
  readonly topology?: Readonly<Record<string, string>>;
  /** Where it creates volumes. Default: the topology of the node. */
  readonly places?: readonly Readonly<Record<string, string>>[];
  readonly maxVolumes?: number;
  readonly stages?: boolean;
  readonly capacityBytes?: number;
  /** Whether it has a controller service. Default true. */
  readonly controller?: boolean;
}

/** A CSI driver on real directories and loop devices, for tests: controller and node service in one, with faults on demand. */
export class TestCsiDriver implements AsyncDisposable, CallLog {
  readonly faults = new Faults(realClock);
  readonly lock = new AsyncMutex();
  /** Every call, in order. */
  readonly calls: string[] = [];
  /** The last request of each call. */
  readonly requests = new Map<string, unknown>();
  registrationError: string | undefined;
  isRegistered = false;
  #servers: GrpcServer[] = [];

  private constructor(
    private readonly options: CsiDriverOptions,
    readonly state: DriverState,
  ) {}

  /** `state`: that of another node's driver for the same volumes. */
  static async start(options: CsiDriverOptions, state?: DriverState): Promise<TestCsiDriver> {
    const driver = new TestCsiDriver(options, state ?? (await DriverState.open(options.root)));
    await driver.#listen();
    return driver;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#servers.splice(0)) await server[Symbol.asyncDispose]();
    await rm(this.options.socket, { force: true });
    if (this.options.registrationSocket !== undefined) await rm(this.options.registrationSocket, { force: true });
  }

  async #listen(): Promise<void> {
    const { socket, registrationSocket, controller = true } = this.options;
    const method = servedMethods(this);
    const own = { state: this.state, clock: realClock, mounter: hostMounter(), method };
    const methods = [...this.#identity(), ...(controller ? controllerService(this.options, own) : []), ...nodeService(this.options, own)];
    await this.#serve(socket, methods);
    if (registrationSocket !== undefined) await this.#serve(registrationSocket, this.#registration());
  }

  /** Replaces the stale socket of a killed driver. */
  async #serve(socket: string, methods: readonly MethodEntry[]): Promise<void> {
    await mkdir(join(socket, '..'), { recursive: true });
    await rm(socket, { force: true });
    this.#servers.push(await GrpcServer.start({ endpoint: `unix://${socket}`, methods }));
  }

  #registration(): readonly MethodEntry[] {
    const { name, socket } = this.options;
    return [
      unaryMethod(csi.GetRegistrationInfo, () => ({ type: 'CSIPlugin', name, endpoint: socket, supportedVersions: ['1.0.0'] })),
      unaryMethod(csi.NotifyRegistrationStatus, ({ pluginRegistered, error }) => {
        this.isRegistered = pluginRegistered;
        this.registrationError = error;
        return {};
      }),
    ];
  }

  #identity(): readonly MethodEntry[] {
    const { name, controller = true, topology, places } = this.options;
    const method = servedMethods(this);
    const services = [
      ...(controller ? (['CONTROLLER_SERVICE'] as const) : []),
      ...(topology || places ? (['VOLUME_ACCESSIBILITY_CONSTRAINTS'] as const) : []),
    ];
    return [
      method(csi.GetPluginInfo, async () => ({ name, vendorVersion: '1' })),
      method(csi.GetPluginCapabilities, async () => ({ capabilities: services.map((type) => ({ service: { type } })) })),
      method(csi.Probe, async () => ({ ready: { value: true } })),
    ];
  }
}
