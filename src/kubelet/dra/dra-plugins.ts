import { type Clock, type GrpcClient, grpcStatus, hasGrpcStatus, type Logger } from '#base';
import type { PluginHandler } from '../csi/plugin-registry.ts';
import { pluginClient } from '../plugin-client.ts';
import type { DeviceHealth } from './device-health.ts';
import {
  type ClaimReference,
  DRA_VERSIONS,
  type DraVersion,
  draService,
  HEALTH_SERVICES,
  type HealthReport,
  type HealthService,
  type PreparedDevice,
  prepareResources,
  unprepareResources,
  watchResources,
} from './messages.ts';
import type { ResourceSliceCleanup } from './resource-slice-cleanup.ts';

const CALL_TIMEOUT_MS = 45_000;
const HEALTH_RETRY_MS = 5_000;

/** One DRA driver's plugin. */
export class DraPlugin implements Disposable {
  readonly #client: GrpcClient;
  readonly #stop = new AbortController();

  constructor(
    readonly endpoint: string,
    private readonly version: DraVersion,
    clock: Clock,
  ) {
    this.#client = pluginClient(endpoint, clock);
  }

  /** By the claim's uid. */
  async prepare(
    claims: readonly ClaimReference[],
  ): Promise<ReadonlyMap<string, { readonly devices: readonly PreparedDevice[]; readonly error: string }>> {
    const answer = await this.#client.unary(prepareResources(this.version), { claims }, { timeoutMs: CALL_TIMEOUT_MS });
    return new Map(answer.claims.map(({ key, value }) => [key, value]));
  }

  async unprepare(claims: readonly ClaimReference[]): Promise<ReadonlyMap<string, { readonly error: string }>> {
    const answer = await this.#client.unary(unprepareResources(this.version), { claims }, { timeoutMs: CALL_TIMEOUT_MS });
    return new Map(answer.claims.map(({ key, value }) => [key, value]));
  }

  /** Reports the health of all devices whenever it changes, until the plugin is closed. An ended stream is reopened. */
  async watchHealth(service: HealthService, onReport: (devices: readonly HealthReport[]) => void, { clock, logger }: WatchDeps) {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        for await (const { devices } of this.#client.serverStream(watchResources(service), {}, { signal })) onReport(devices);
      } catch (error) {
        if (signal.aborted || hasGrpcStatus(error, grpcStatus.unimplemented)) return;
        logger.debug('the health of devices cannot be watched; trying again', { endpoint: this.endpoint, error });
      }
      await clock.sleep(HEALTH_RETRY_MS, signal).catch(() => {});
    }
  }

  [Symbol.dispose](): void {
    this.#stop.abort();
    this.#client.close();
  }
}

interface WatchDeps {
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface DraPluginsDeps extends WatchDeps {
  readonly health: DeviceHealth;
  readonly departed: ResourceSliceCleanup;
}

/** The registered DRA plugins, newest first per driver: during an update two may run. */
export class DraPlugins implements PluginHandler, Disposable {
  readonly #plugins = new Map<string, readonly DraPlugin[]>();

  constructor(private readonly deps: DraPluginsDeps) {}

  async register({ name, endpoint, supportedVersions }: Parameters<PluginHandler['register']>[0]): Promise<void> {
    const version = DRA_VERSIONS.find((candidate) => supportedVersions.includes(draService(candidate)));
    if (version === undefined) throw new Error(versionProblem(name, endpoint, supportedVersions));
    const others = this.#remove(name, endpoint);
    const plugin = new DraPlugin(endpoint, version, this.deps.clock);
    this.#plugins.set(name, [plugin, ...others]);
    this.deps.departed.returned(name);
    const service = HEALTH_SERVICES.find((candidate) => supportedVersions.includes(candidate));
    if (service !== undefined)
      this.#watchHealth(name, plugin, service).catch((error: unknown) =>
        this.deps.logger.warn('the watch of device health ended', { driver: name, error }),
      );
  }

  async #watchHealth(driver: string, plugin: DraPlugin, service: HealthService): Promise<void> {
    const { health } = this.deps;
    const isNewest = () => this.#plugins.get(driver)?.[0] === plugin;
    await plugin.watchHealth(service, (devices) => isNewest() && health.update(driver, devices), this.deps);
    if (!this.#plugins.has(driver)) health.forget(driver);
  }

  async deregister({ name, endpoint }: Parameters<PluginHandler['deregister']>[0]): Promise<void> {
    const wasThere = this.#plugins.has(name);
    this.#remove(name, endpoint);
    if (wasThere && !this.#plugins.has(name)) this.deps.departed.departed(name);
  }

  /** Closes the plugin of this endpoint; returns the driver's other plugins. */
  #remove(name: string, endpoint: string): readonly DraPlugin[] {
    const plugins = this.#plugins.get(name) ?? [];
    for (const plugin of plugins) if (plugin.endpoint === endpoint) plugin[Symbol.dispose]();
    const others = plugins.filter((plugin) => plugin.endpoint !== endpoint);
    if (others.length > 0) this.#plugins.set(name, others);
    else this.#plugins.delete(name);
    return others;
  }

  get(driver: string): DraPlugin {
    const plugin = this.#plugins.get(driver)?.[0];
    if (plugin === undefined) throw new Error(`DRA driver ${driver} is not registered`);
    return plugin;
  }

  [Symbol.dispose](): void {
    for (const plugins of this.#plugins.values()) for (const plugin of plugins) plugin[Symbol.dispose]();
    this.#plugins.clear();
  }
}

function versionProblem(driver: string, endpoint: string, versions: readonly string[]): string {
  const where = `invalid supported gRPC versions of DRA driver plugin ${driver} at endpoint ${endpoint}`;
  if (versions.length === 0) return `${where}: empty list of supported gRPC services (aka supported versions)`;
  const list = (names: readonly string[]) => `[${names.map((name) => `"${name}"`).join(' ')}]`;
  const own = list(DRA_VERSIONS.map(draService));
  return `${where}: none of services supported by the plugin (${list(versions)}) are supported by the kubelet (${own})`;
}
