import { EventEmitter, once } from 'node:events';
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { GrpcServer, type MethodEntry, streamingMethod, unaryMethod } from '#base';
import { csi, dra } from '#kubelet';

export interface DraDriverOptions {
  readonly name: string;
  /** The kubelet's directory. */
  readonly rootDir: string;
  readonly supportedVersions?: readonly string[];
}

/** The node part of a DRA driver for tests: each claim gets one device, named after the claim. */
export class DraDriver implements AsyncDisposable {
  readonly calls: string[] = [];
  registrationError: string | undefined;
  /** The error of the next calls; empty: they succeed. */
  failure = '';
  readonly #servers: GrpcServer[] = [];
  #devices: readonly { device: { poolName: string; deviceName: string }; health: 'HEALTHY' | 'UNHEALTHY'; message: string }[] = [];
  readonly #changes = new EventEmitter();

  constructor(private readonly options: DraDriverOptions) {}

  async start(): Promise<void> {
    const { name, rootDir } = this.options;
    const directory = path.join(rootDir, 'plugins', name);
    await mkdir(directory, { recursive: true });
    await this.#serve(path.join(directory, 'dra.sock'), this.#methods());
    await this.#serve(this.#registrationSocket, this.#registration(path.join(directory, 'dra.sock')));
  }

  get #registrationSocket(): string {
    return path.join(this.options.rootDir, 'plugins_registry', `${this.options.name}.sock`);
  }

  async #serve(socket: string, methods: readonly MethodEntry[]): Promise<void> {
    this.#servers.push(await GrpcServer.start({ endpoint: `unix://${socket}`, methods: [...methods] }));
  }

  #registration(endpoint: string): readonly MethodEntry[] {
    const { name, supportedVersions = ['v1.DRAPlugin'] } = this.options;
    return [
      unaryMethod(csi.GetRegistrationInfo, () => ({ type: 'DRAPlugin', name, endpoint, supportedVersions })),
      unaryMethod(csi.NotifyRegistrationStatus, ({ error }) => {
        this.registrationError = error;
        return {};
      }),
    ];
  }

  #methods(): readonly MethodEntry[] {
    const { name: driver } = this.options;
    return [
      streamingMethod(dra.watchResources('v1alpha1.DRAResourceHealth'), (_, { signal }) => this.#watchHealth(signal)),
      unaryMethod(dra.prepareResources('v1'), ({ claims }) => {
        this.calls.push(`prepare ${claims.map(({ name }) => name).join()}`);
        const device = (name: string) => ({
          requestNames: ['r'],
          poolName: 'pool',
          deviceName: name,
          cdiDeviceIds: [`${driver}/claim=${name}`],
        });
        const error = this.failure;
        return { claims: claims.map(({ uid, name }) => ({ key: uid, value: { devices: error === '' ? [device(name)] : [], error } })) };
      }),
      unaryMethod(dra.unprepareResources('v1'), ({ claims }) => {
        this.calls.push(`unprepare ${claims.map(({ name }) => name).join()}`);
        return { claims: claims.map(({ uid }) => ({ key: uid, value: { error: this.failure } })) };
      }),
    ];
  }

  /** Reports this health for the devices from now on. */
  report(health: 'HEALTHY' | 'UNHEALTHY', ...names: readonly string[]): void {
    this.#devices = names.map((deviceName) => ({ device: { poolName: 'pool', deviceName }, health, message: `it is ${health}` }));
    this.#changes.emit('change');
  }

  async *#watchHealth(signal: AbortSignal) {
    while (!signal.aborted) {
      const changed = once(this.#changes, 'change', { signal }).catch(() => {});
      yield { devices: this.#devices };
      await changed;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#registrationSocket, { force: true });
    for (const server of this.#servers) await server[Symbol.asyncDispose]();
  }
}
