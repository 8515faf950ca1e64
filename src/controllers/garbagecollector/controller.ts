import { apiextensions, apiregistration } from '#api';
import { onAbort, type TimerHandle, waitForAbort } from '#base';
import { type DiscoveredResource, discover, type KubeObject } from '#client';
import { apiVersionOf } from '#machinery';
import type { Controller, ControllerContext, RunningController } from '../runtime/controller.ts';
import { GarbageCollector } from './garbage-collector.ts';
import { collectableResources, ResourceMapper } from './resource-mapper.ts';

/** Deletes objects whose owners are gone, and completes foreground and orphan deletions. */
export const garbageCollectorController: Controller = {
  name: 'garbage-collector-controller',
  aliases: ['garbagecollector'],
  enabledByDefault: true,
  start: (context) => (context.options.enableGarbageCollector ? new GarbageCollectorController(context) : undefined),
};

/** The discovery interval where changes are not announced. */
const DISCOVERY_PERIOD_MS = 30_000;
/** CRDs are often created in groups: discovery is debounced. */
const DEFINITION_DELAY_MS = 100;
const RETRY_MS = 1000;
const UNSYNCED_TIMEOUT_MS = 30_000;

/** Runs informers for all deletable resources, custom ones included, and feeds the collector. */
class GarbageCollectorController implements RunningController {
  readonly #mapper = new ResourceMapper();
  readonly #collector: GarbageCollector;
  readonly #monitors = new Map<string, { readonly resource: DiscoveredResource; readonly handler: Disposable }>();
  #pending: { readonly due: number; readonly timer: TimerHandle } | undefined;
  #syncing: Promise<void> = Promise.resolve();

  constructor(private readonly context: ControllerContext) {
    this.#collector = new GarbageCollector(context, this.#mapper);
    const changed = () => this.#scheduleSync(DEFINITION_DELAY_MS);
    // The initial list is covered by the first discovery.
    const added = (_: unknown, isInInitialList: boolean) => void (isInInitialList || changed());
    const handler = { add: added, update: changed, delete: changed };
    context.informers.of(apiextensions.CustomResourceDefinition).addHandler(handler);
    context.informers.of(apiregistration.APIService).addHandler(handler);
    onAbort(context.signal, () => this.#pending?.timer.cancel());
  }

  async run(): Promise<void> {
    const { signal } = this.context;
    await this.#sync();
    await this.#awaitMonitors();
    const collecting = this.#collector.run();
    await waitForAbort(signal);
    await Promise.all([collecting, this.#syncing]);
  }

  /** In-process, definitions and APIServices announce changes; aggregated servers do not. */
  #needsAsking(): boolean {
    return !this.context.client.transport.isLocal || this.#hasAggregatedServers();
  }

  #hasAggregatedServers(): boolean {
    return this.context.informers
      .of(apiregistration.APIService)
      .lister.list()
      .some(({ spec }) => spec?.service !== undefined);
  }

  #scheduleSync(delayMs: number): void {
    const { clock, signal } = this.context;
    const due = clock.monotonic() + delayMs;
    if (signal.aborted || (this.#pending && this.#pending.due <= due)) return;
    this.#pending?.timer.cancel();
    const timer = clock.setTimer(delayMs, () => {
      this.#pending = undefined;
      void this.#sync();
    });
    this.#pending = { due, timer };
  }

  /** One at a time; failures are retried later. */
  #sync(): Promise<void> {
    this.#syncing = this.#syncing.then(() => this.#trySync());
    return this.#syncing;
  }

  async #trySync(): Promise<void> {
    try {
      await this.#syncMonitors();
      if (this.#needsAsking()) this.#scheduleSync(DISCOVERY_PERIOD_MS);
    } catch (error) {
      if (this.context.signal.aborted) return;
      this.context.logger.warn('cannot discover the resources; trying again', { error });
      this.#scheduleSync(RETRY_MS);
    }
  }

  async #syncMonitors(): Promise<void> {
    const { client, signal } = this.context;
    if (signal.aborted) return;
    const discovery = await discover(client.transport, signal);
    this.#mapper.update(discovery);
    const desired = new Map(collectableResources(discovery).map((resource) => [monitorKey(resource), resource]));
    if (desired.size === 0) return;
    for (const [key, { resource }] of this.#monitors) {
      if (!desired.has(key) && !discovery.failures.has(apiVersionOf(resource))) this.#removeMonitor(key);
    }
    for (const [key, resource] of desired) if (!this.#monitors.has(key)) this.#addMonitor(key, resource);
  }

  #addMonitor(key: string, resource: DiscoveredResource): void {
    const apiVersion = apiVersionOf(resource);
    const { graph } = this.#collector;
    const identityOf = ({ metadata }: KubeObject) => ({
      apiVersion,
      kind: resource.kind,
      namespace: metadata.namespace ?? '',
      name: metadata.name,
      uid: metadata.uid ?? '',
    });
    const handler = this.#informer(resource).addHandler({
      add: (object) => graph.observed(identityOf(object), object.metadata),
      update: (before, object) => graph.observed(identityOf(object), object.metadata, before.metadata),
      delete: (object) => graph.deleted(identityOf(object)),
    });
    this.#monitors.set(key, { resource, handler });
  }

  #removeMonitor(key: string): void {
    const monitor = this.#monitors.get(key)!;
    monitor.handler[Symbol.dispose]();
    this.#monitors.delete(key);
    void this.context.informers.release(monitor.resource, this.#informerOptions);
  }

  #informer(resource: DiscoveredResource) {
    return this.context.informers.resource(resource, this.#informerOptions);
  }

  /** In-process, full objects cost nothing, and the informer is shared with other controllers. */
  get #informerOptions() {
    return { metadataOnly: !this.context.client.transport.isLocal };
  }

  /** Resources that cannot be listed do not block the collection of others. */
  async #awaitMonitors(): Promise<void> {
    const { clock, signal, logger } = this.context;
    const synced = Promise.all([...this.#monitors.values()].map(({ resource }) => this.#informer(resource).synced));
    const stop = new AbortController();
    const timeout = clock.sleep(UNSYNCED_TIMEOUT_MS, stop.signal).then(
      () => logger.warn('not all resources could be read; proceeding without them'),
      () => {},
    );
    await Promise.race([synced.catch(() => {}), timeout, waitForAbort(signal)]);
    stop.abort();
    await timeout;
  }
}

function monitorKey({ group, version, resource }: DiscoveredResource): string {
  return `${group}/${version}/${resource}`;
}
