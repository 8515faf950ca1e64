import { type FSWatcher, watch } from 'node:fs';
import { mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, type Component, type Logger, runComponent, type TimerHandle } from '#base';
import { pluginClient } from '../plugin-client.ts';
import { messageOf } from '../volumes/volume-plugin.ts';
import { GetRegistrationInfo, NotifyRegistrationStatus } from './messages.ts';

export interface RegisteredPlugin {
  /** `CSIPlugin`, `DevicePlugin`, `DRAPlugin`. */
  readonly type: string;
  readonly name: string;
  readonly endpoint: string;
  readonly supportedVersions: readonly string[];
}

export interface PluginHandler {
  /** The error of a rejection is sent to the plugin. Several plugins may be registered concurrently. */
  register(plugin: RegisteredPlugin, signal: AbortSignal): Promise<void>;
  deregister(plugin: RegisteredPlugin): Promise<void>;
}

export interface PluginRegistryConfig {
  /** `ROOT/plugins_registry`, where plugins create their sockets. */
  readonly directory: string;
  readonly handlers: ReadonlyMap<string, PluginHandler>;
}

export interface PluginRegistryDeps {
  readonly clock: Clock;
  readonly logger: Logger;
}

const RESCAN_MS = 10_000;
const SETTLE_MS = 20;
const RETRY_MS = 1000;
const CALL_TIMEOUT_MS = 10_000;

/** Registers plugins whose sockets appear in a directory, and deregisters those whose sockets disappear. */
export function startPluginRegistry(config: PluginRegistryConfig, deps: PluginRegistryDeps, signal?: AbortSignal): Component {
  return runComponent(signal, async ({ signal: stopping, ready }) => {
    await mkdir(config.directory, { recursive: true, mode: 0o750 });
    const registry = new PluginRegistry(config, deps, stopping);
    let watcher: FSWatcher | undefined;
    try {
      watcher = watch(config.directory, () => registry.wake(SETTLE_MS));
      watcher.on('error', (error) => deps.logger.warn('the directory of plugins cannot be watched; it is polled instead', { error }));
      await registry.scan();
      ready();
      await registry.run();
    } finally {
      watcher?.close();
      await registry.settled();
    }
  });
}

interface Registration {
  readonly plugin: RegisteredPlugin;
  /** Of the socket file: a restarted plugin creates a new one. */
  readonly identity: string;
}

class PluginRegistry {
  readonly #registrations = new Map<string, Registration>();
  /** Registrations in progress: a plugin that does not respond does not block others. */
  readonly #pending = new Map<string, Promise<void>>();
  #wake: (() => void) | undefined;
  #timer: TimerHandle | undefined;

  constructor(
    private readonly config: PluginRegistryConfig,
    private readonly deps: PluginRegistryDeps,
    private readonly signal: AbortSignal,
  ) {}

  wake(delayMs: number): void {
    this.#timer ??= this.deps.clock.setTimer(delayMs, () => {
      this.#timer = undefined;
      this.#wake?.();
    });
  }

  async settled(): Promise<void> {
    await Promise.all(this.#pending.values());
  }

  async run(): Promise<void> {
    const { signal } = this;
    const stop = () => this.#wake?.();
    signal.addEventListener('abort', stop, { once: true });
    while (!signal.aborted) {
      const rescan = this.deps.clock.setTimer(RESCAN_MS, () => this.#wake?.());
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        if (signal.aborted) resolve();
      });
      rescan.cancel();
      if (!signal.aborted) await this.#rescan();
    }
    this.#timer?.cancel();
    signal.removeEventListener('abort', stop);
  }

  /** The directory may be removed while the kubelet runs: registered plugins stay usable, and the next scan may succeed. */
  async #rescan(): Promise<void> {
    try {
      await this.scan();
    } catch (error) {
      this.deps.logger.warn('the directory of plugins cannot be read; trying again', { directory: this.config.directory, error });
    }
  }

  async scan(): Promise<void> {
    const sockets = new Map<string, string>();
    for (const name of await readdir(this.config.directory)) {
      const path = join(this.config.directory, name);
      const stats = name.startsWith('.') ? undefined : await stat(path).catch(() => undefined);
      if (stats?.isSocket()) sockets.set(path, `${stats.ino}/${stats.ctimeMs}`);
    }
    for (const [path, { plugin, identity }] of this.#registrations)
      if (sockets.get(path) !== identity) await this.#deregister(path, plugin);
    for (const [path, identity] of sockets) {
      if (this.#registrations.has(path) || this.#pending.has(path)) continue;
      this.#pending.set(
        path,
        this.#register(path, identity).finally(() => this.#pending.delete(path)),
      );
    }
  }

  async #register(path: string, identity: string): Promise<void> {
    const client = pluginClient(path, this.deps.clock);
    const { signal } = this;
    const options = { timeoutMs: CALL_TIMEOUT_MS, signal };
    try {
      const info = await client.unary(GetRegistrationInfo, {}, options);
      const plugin = { ...info, endpoint: info.endpoint || path };
      const handler = this.config.handlers.get(plugin.type);
      try {
        if (handler === undefined) throw new Error(`no handler registered for plugin type: ${plugin.type}`);
        await handler.register(plugin, signal);
      } catch (error) {
        await client.unary(NotifyRegistrationStatus, { pluginRegistered: false, error: messageOf(error) }, options);
        throw error;
      }
      await client.unary(NotifyRegistrationStatus, { pluginRegistered: true, error: '' }, options);
      this.#registrations.set(path, { plugin, identity });
      this.deps.logger.info('a plugin has registered', { type: plugin.type, name: plugin.name });
    } catch (error) {
      if (signal.aborted) return;
      this.deps.logger.warn('a plugin could not be registered; trying again', { socket: path, error });
      this.wake(RETRY_MS);
    } finally {
      client.close();
    }
  }

  async #deregister(path: string, plugin: RegisteredPlugin): Promise<void> {
    try {
      await this.config.handlers.get(plugin.type)?.deregister(plugin);
      this.#registrations.delete(path);
    } catch (error) {
      this.deps.logger.warn('a plugin could not be deregistered; trying again', { name: plugin.name, error });
    }
  }
}
