import { core, discovery } from '#api';
import {
  type Clock,
  type Component,
  HttpEndpoint,
  type HttpRoutes,
  KernelNetwork,
  type Logger,
  METRICS_CONTENT_TYPE,
  MetricsRegistry,
  type Random,
  raceAbort,
  repeat,
  runComponent,
} from '#base';
import { type Client, InformerFactory, keyOf, Quarantine, type SharedInformer } from '#client';
import { formatTime } from '#machinery';
import type { Applier } from './applier.ts';
import { chooseApplier } from './choose-applier.ts';
import { applyConntrack } from './config/conntrack-settings.ts';
import type { ProxyConfiguration } from './config/proxy-configuration.ts';
import { type ProxyMetrics, proxyMetrics } from './proxy-metrics.ts';
import { computeServiceRules } from './rules/compute-rules.ts';
import type { ProxyNode } from './rules/select-endpoints.ts';
import { ServiceHealth } from './service-health.ts';

export interface ProxyConfig extends ProxyConfiguration {
  readonly nodeName: string;
  /** Removes the rules when stopped. Default: false, so that services keep working while the proxy restarts. */
  readonly removeOnStop?: boolean;
}

export interface ProxyDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics?: MetricsRegistry;
  /** Default: the network of this process. */
  readonly kernel?: KernelNetwork;
}

export interface KubeProxy extends Component {
  /** Ports of the health and metrics servers, once ready. */
  readonly healthzPort: number | undefined;
  readonly metricsPort: number | undefined;
}

export const SERVICE_LABEL = 'kubernetes.io/service-name';
const BY_SERVICE = 'by-service';
const TRIGGER_TIME = 'endpoints.kubernetes.io/last-change-trigger-time';
/** Set by the cluster autoscaler: load balancers must not send new traffic to the node. */
const DELETION_TAINT = 'ToBeDeletedByClusterAutoscaler';
const MAX_RETRY_MS = 30_000;
const SERVICES_A_TURN = 200;

/** kube-proxy: implements services on this node. */
export function startProxy(config: ProxyConfig, deps: ProxyDeps, signal?: AbortSignal): KubeProxy {
  const run = new ProxyRun(config, deps);
  const component = runComponent(signal, (scope) => run.run(scope.signal, scope.ready));
  return {
    ready: component.ready,
    done: component.done,
    [Symbol.asyncDispose]: () => component[Symbol.asyncDispose](),
    get healthzPort() {
      return run.healthz.port;
    },
    get metricsPort() {
      return run.metricsEndpoint.port;
    },
  };
}

class ProxyRun {
  readonly healthz: HttpEndpoint;
  readonly metricsEndpoint: HttpEndpoint;
  readonly #registry: MetricsRegistry;
  readonly #metrics: ProxyMetrics;
  /** A service whose rules cannot be computed keeps its previous ones, and does not block others. */
  readonly #quarantine: Quarantine;
  readonly #informers: InformerFactory;
  readonly #services: SharedInformer<core.Service>;
  readonly #slices: SharedInformer<discovery.EndpointSlice>;
  readonly #nodes: SharedInformer<core.Node>;
  readonly #kernel: KernelNetwork;
  readonly #health: ServiceHealth;
  readonly #dirty = new Set<string>();
  readonly #triggers: number[] = [];
  #applier: Applier | undefined;
  #node: core.Node | undefined;
  #nodeText = '';
  #wake: () => void = () => {};
  #isRepairDue = false;
  #mode = '';
  #lastUpdated = 0;
  #queuedAt: number | undefined;

  constructor(
    private readonly config: ProxyConfig,
    private readonly deps: ProxyDeps,
  ) {
    this.#registry = deps.metrics ?? new MetricsRegistry();
    this.#metrics = proxyMetrics(this.#registry);
    this.#quarantine = new Quarantine('proxy', { ...deps, metrics: this.#registry });
    this.#informers = new InformerFactory(deps.client, deps);
    this.#services = this.#informers.of(core.Service);
    this.#slices = this.#informers.of(discovery.EndpointSlice).addIndex(BY_SERVICE, serviceOfSlice);
    this.#nodes = this.#informers.of(core.Node, { fieldSelector: `metadata.name=${config.nodeName}` });
    this.#kernel = deps.kernel ?? new KernelNetwork();
    this.#health = new ServiceHealth(() => this.#isLive(), deps.logger);
    this.healthz = new HttpEndpoint(this.#healthRoutes(), deps.logger);
    this.metricsEndpoint = new HttpEndpoint((path) => {
      if (path === '/metrics') return { code: 200, body: this.#registry.text(), headers: { 'content-type': METRICS_CONTENT_TYPE } };
      if (path === '/proxyMode') return { code: 200, body: this.#mode };
      return path === '/healthz' ? { code: 200, body: 'ok' } : undefined;
    }, deps.logger);
  }

  async run(stopping: AbortSignal, ready: () => void): Promise<void> {
    const { config, deps } = this;
    for (const setting of config.withoutEffect) deps.logger.warn('a setting of the proxy has no effect', { setting });
    try {
      this.#follow();
      this.#informers.start(stopping);
      await raceAbort(this.#informers.synced(), stopping);
      await this.#listen(config.bindAddressHardFail);
      this.#node = this.#nodes.lister.get({ name: config.nodeName });
      await this.#choose();
      if (config.conntrack && this.#mode !== 'userspace') await applyConntrack(config.conntrack, this.#kernel, deps.logger);
      await this.#sync(stopping);
      ready();
      const onError = (error: unknown) => deps.logger.error('a server of the proxy does not listen', { error });
      const repairing = repeat({ clock: deps.clock, intervalMs: config.syncPeriodMs, signal: stopping, onError }, async () => {
        this.#isRepairDue = true;
        this.#wake();
        await this.#listen(false);
      });
      await this.#loop(stopping);
      await repairing;
    } finally {
      await this.#informers.stop();
      for (const server of [this.healthz, this.metricsEndpoint, this.#health]) await server[Symbol.asyncDispose]();
      if (config.removeOnStop || this.#mode === 'userspace') await this.#applier?.remove();
    }
  }

  async #listen(mustSucceed: boolean): Promise<void> {
    const { healthzBindAddress, metricsBindAddress } = this.config;
    for (const [server, address] of [[this.healthz, healthzBindAddress] as const, [this.metricsEndpoint, metricsBindAddress] as const]) {
      if (!address || server.port !== undefined) continue;
      try {
        await server.listen(address);
      } catch (error) {
        if (mustSucceed) throw error;
        this.deps.logger.error('a server of the proxy does not listen; it is tried again', { address, error });
      }
    }
  }

  #follow(): void {
    const onService = (service: core.Service) => {
      this.#metrics.serviceChangesTotal.inc();
      this.#metrics.serviceChangesPending.inc();
      this.#touch(keyOf(service));
    };
    const onSlice = (slice: discovery.EndpointSlice) => {
      this.#metrics.endpointChangesTotal.inc();
      this.#metrics.endpointChangesPending.inc();
      this.#noteTrigger(slice);
      for (const service of serviceOfSlice(slice)) this.#touch(service);
    };
    this.#services.addHandler({ add: onService, update: (_, after) => onService(after), delete: onService });
    this.#slices.addHandler({
      add: onSlice,
      update: (before, after) => {
        onSlice(after);
        for (const service of serviceOfSlice(before)) this.#touch(service);
      },
      delete: onSlice,
    });
    const onNode = (node: core.Node) => {
      this.#node = node;
      if (this.#applier !== undefined && nodeText(node) !== this.#nodeText) this.#touch('');
    };
    this.#nodes.addHandler({ add: onNode, update: (_, after) => onNode(after) });
  }

  #noteTrigger({ metadata }: discovery.EndpointSlice): void {
    const time = Date.parse(metadata?.annotations?.[TRIGGER_TIME] ?? '');
    if (Number.isFinite(time) && this.#applier !== undefined && this.#triggers.length < 1000) this.#triggers.push(time);
  }

  /** Marks a service as changed; the empty name means all. */
  #touch(service: string): void {
    this.#dirty.add(service);
    this.#queuedAt ??= this.deps.clock.now();
    this.#metrics.lastQueued.set(this.deps.clock.now() / 1000);
    this.#wake();
  }

  async #choose(): Promise<void> {
    this.#nodeText = this.#node ? nodeText(this.#node) : '';
    const { applier, mode } = await chooseApplier(this.config, this.#node, { ...this.deps, kernel: this.#kernel });
    // Two userspace proxies cannot listen on the same port.
    if (this.#mode === 'userspace') await this.#applier?.remove();
    if (this.#mode !== mode) this.deps.logger.info('selected the proxy mode', { mode });
    this.#mode = mode;
    this.#applier = applier;
    for (const service of this.#services.lister.list()) this.#dirty.add(keyOf(service));
  }

  async #loop(stopping: AbortSignal): Promise<void> {
    const { clock, logger } = this.deps;
    let lastRun = -Infinity;
    const onError = (error: unknown) => logger.error('changes of services could not be followed', { error });
    await repeat({ clock, intervalMs: 0, signal: stopping, onError }, async () => {
      if (this.#dirty.size === 0 && !this.#isRepairDue) {
        const woken = new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        await raceAbort(woken, stopping);
      }
      const wait = lastRun + this.config.minSyncPeriodMs - clock.monotonic();
      if (wait > 0) await clock.sleep(wait, stopping);
      lastRun = clock.monotonic();
      if (this.#dirty.size > 0) await this.#sync(stopping);
      if (this.#isRepairDue) await this.#repair();
    });
  }

  /** Retries until it succeeds; existing rules stay in effect. */
  async #sync(stopping: AbortSignal): Promise<void> {
    for (let delay = 500; ; delay = Math.min(delay * 2, MAX_RETRY_MS)) {
      try {
        return await this.#syncOnce();
      } catch (error) {
        this.#metrics.syncFailures.inc();
        this.deps.logger.error('rules of services could not be applied', { error, retryInMs: delay });
        await this.deps.clock.sleep(delay, stopping);
      }
    }
  }

  async #syncOnce(): Promise<void> {
    const { clock } = this.deps;
    const started = clock.monotonic();
    if (this.#dirty.has('')) await this.#choose();
    const isFull = this.#lastUpdated === 0 || this.#dirty.has('');
    await this.#computeDirty();
    const triggers = this.#triggers.splice(0);
    await this.#applier!.sync();
    const seconds = (clock.monotonic() - started) / 1000;
    const metrics = this.#metrics;
    metrics.syncSeconds.observe(seconds);
    (isFull ? metrics.fullSyncSeconds : metrics.partialSyncSeconds).observe(seconds);
    for (const trigger of triggers) metrics.programmingSeconds.observe((clock.now() - trigger) / 1000);
    metrics.lastSync.set(clock.now() / 1000);
    metrics.endpointChangesPending.set(0);
    metrics.serviceChangesPending.set(0);
    this.#lastUpdated = clock.now();
    if (this.#dirty.size === 0) this.#queuedAt = undefined;
  }

  /** Yields between batches, so that thousands of services do not block the event loop. */
  async #computeDirty(): Promise<void> {
    const dirty = [...this.#dirty];
    this.#dirty.clear();
    for (const [i, service] of dirty.entries()) {
      if (service !== '') this.#quarantine.contain(service, () => this.#compute(service));
      if (i % SERVICES_A_TURN === SERVICES_A_TURN - 1) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #compute(key: string): void {
    const [namespace = '', name = ''] = key.split('/');
    const service = this.#services.lister.get({ namespace, name });
    const slices = this.#slices.lister.byIndex(BY_SERVICE, key);
    const rules = service && computeServiceRules(service, slices, proxyNode(this.config.nodeName, this.#node));
    this.#applier!.set(key, rules);
    this.#health.set(key, rules?.healthCheck);
  }

  /** In the loop that syncs: a repair beside it could write rules of before over newer ones. */
  async #repair(): Promise<void> {
    this.#isRepairDue = false;
    await this.#applier?.repair();
  }

  /** Rules are up to date, or pending for less than two sync periods. */
  #isLive(): boolean {
    return this.#lastUpdated > 0 && (this.#queuedAt === undefined || this.deps.clock.now() - this.#queuedAt < 2 * this.config.syncPeriodMs);
  }

  #isEligible(): boolean {
    const { metadata, spec } = this.#node ?? {};
    return metadata?.deletionTimestamp === undefined && !(spec?.taints ?? []).some(({ key }) => key === DELETION_TAINT);
  }

  #healthRoutes(): HttpRoutes {
    const answer = (isHealthy: boolean, metric: ProxyMetrics['healthz'], fields: object) => {
      const code = isHealthy ? 200 : 503;
      metric.with({ code: `${code}` }).inc();
      const currentTime = formatTime(this.deps.clock.now());
      const lastUpdated = isHealthy ? currentTime : formatTime(this.#lastUpdated);
      return { code, body: JSON.stringify({ lastUpdated, currentTime, ...fields }), headers: { 'content-type': 'application/json' } };
    };
    return (path) => {
      const nodeEligible = this.#isEligible();
      if (path === '/healthz') return answer(this.#isLive() && nodeEligible, this.#metrics.healthz, { nodeEligible });
      return path === '/livez' ? answer(this.#isLive(), this.#metrics.livez, {}) : undefined;
    };
  }
}

/** The service of a slice, by its label. */
function serviceOfSlice({ metadata }: discovery.EndpointSlice): readonly string[] {
  const name = metadata?.labels?.[SERVICE_LABEL];
  return name ? [`${metadata?.namespace ?? ''}/${name}`] : [];
}

export function proxyNode(name: string, node: core.Node | undefined): ProxyNode {
  const zone = node?.metadata?.labels?.['topology.kubernetes.io/zone'];
  return { name, ...(zone !== undefined && { zone }) };
}

/** The node properties that rules depend on. */
function nodeText({ metadata, spec, status }: core.Node): string {
  const zone = metadata?.labels?.['topology.kubernetes.io/zone'];
  return JSON.stringify([zone, spec?.podCIDRs, (status?.addresses ?? []).filter(({ type }) => type === 'InternalIP')]);
}
