import { apiextensions, apiregistration } from '#api';
import { onAbort, type TimerHandle, whenAborted } from '#base';
import { type DiscoveredResource, discover, type KubeObject } from '#client';
import { apiVersionOf } from '#machinery';
import type { Controller, ControllerContext, RunningController } from '../runtime/controller.ts';
import { GarbageCollector } from './garbage-collector.ts';
import { collectableResources, ResourceMapper } from './resource-mapper.ts';

/** Deletes what has lost its owners, and carries out foreground and orphaning deletions. */
export const garbageCollectorController: Controller = {
  name: 'garbage-collector-controller',
  aliases: ['garbagecollector'],
  enabledByDefault: true,
  start: (context) => (context.options.enableGarbageCollector ? new GarbageCollectorController(context) : undefined),
};

/** How often the server is asked what it serves, where nothing else tells of changes. */
const DISCOVERY_PERIOD_MS = 30_000;
/** Several definitions often come at once. */
const DEFINITION_DELAY_MS = 100;
const RETRY_MS = 1000;
const UNSYNCED_TIMEOUT_MS = 30_000;

/** Keeps an informer on everything that can be garbage, custom resources included, and runs the collector on what they tell. */
class GarbageCollectorController implements RunningController {
  readonly #mapper = new ResourceMapper();
  readonly #collector: GarbageCollector;
  readonly #monitors = new Map<string, { readonly resource: DiscoveredResource; readonly handler: Disposable }>();
  #pending: { readonly due: number; readonly timer: TimerHandle } | undefined;
  #syncing: Promise<void> = Promise.resolve();

  constructor(private readonly context: ControllerContext) {
    this.#collector = new GarbageCollector(context, this.#mapper);
    const changed = () => this.#scheduleSync(DEFINITION_DELAY_MS);
    // What was there before is discovered first of all.
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
    await whenAborted(signal);
    await Promise.all([collecting, this.#syncing]);
  }

  /** In one process with the server, definitions and API services tell of every change; aggregated servers change by themselves. */
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

  /** One at a time. A server that cannot be asked is asked again later. */
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
      this.context.logger.warn('cannot find out which resources there are; trying again', { error });
      this.#scheduleSync(RETRY_MS);
    }
  }

  async #syncMonitors(): Promise<void> {
    const { client, signal } = this.context;
    if (signal.aborted) return;
    const discovery = await discover(client.transport, signal);
    this.#mapper.update(discovery);
    const wanted = new Map(collectableResources(discovery).map((resource) => [monitorKey(resource), resource]));
    if (wanted.size === 0) return;
    for (const [key, { resource }] of this.#monitors) {
      if (!wanted.has(key) && !discovery.failures.has(apiVersionOf(resource))) this.#removeMonitor(key);
    }
    for (const [key, resource] of wanted) if (!this.#monitors.has(key)) this.#addMonitor(key, resource);
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

  /** In one process whole objects cost nothing, and the informer is the one that others use, too. */
  get #informerOptions() {
    return { metadataOnly: !this.context.client.transport.isLocal };
  }

  /** Resources that cannot be listed for long do not keep the others from being collected. */
  async #awaitMonitors(): Promise<void> {
    const { clock, signal, logger } = this.context;
    const synced = Promise.all([...this.#monitors.values()].map(({ resource }) => this.#informer(resource).synced));
    const stop = new AbortController();
    const timeout = clock.sleep(UNSYNCED_TIMEOUT_MS, stop.signal).then(
      () => logger.warn('not all resources could be read; proceeding without them'),
      () => {},
    );
    await Promise.race([synced.catch(() => {}), timeout, whenAborted(signal)]);
    stop.abort();
    await timeout;
  }
}

function monitorKey({ group, version, resource }: DiscoveredResource): string {
  return `${group}/${version}/${resource}`;
}
