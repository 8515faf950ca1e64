import packet from 'dns-packet';
import { core, discovery } from '#api';
import { type Clock, type Component, type Logger, type MetricsRegistry, type Random, raceAbort, runComponent, waitForAbort } from '#base';
import { type Client, InformerFactory } from '#client';
import { type DnsConfig, NO_CONFIG, readDnsConfig, type ServerAddress, serverAddress } from './config/dns-config-map.ts';
import { DnsMetrics } from './dns-metrics.ts';
import { exchangeUdp } from './forward/exchange.ts';
import { Forwarder } from './forward/forwarder.ts';
import { type HealthAddresses, type HealthEndpoint, healthEndpoints } from './health-endpoints.ts';
import { Resolver } from './resolver.ts';
import { listenTcp } from './server/tcp-server.ts';
import { listenUdp } from './server/udp-server.ts';
import { ClusterZone } from './zone/cluster-zone.ts';
import { ServiceIndex } from './zone/service-index.ts';

export interface DnsServerConfig extends HealthAddresses {
  /** Listen addresses, each over UDP and TCP. */
  readonly listen: readonly string[];
  /** 0 for any free port, the same for UDP and TCP. */
  readonly port: number;
  /** Default `cluster.local`. */
  readonly clusterDomain?: string;
  /** Default 30. */
  readonly ttlSeconds?: number;
  /** The addresses of the kube-dns service. */
  readonly serviceIps?: readonly string[];
  /** The upstream name servers, unless the ConfigMap sets others. */
  readonly upstream?: readonly string[];
}

export interface DnsServerDeps {
  /** May list and watch services, endpoint slices and namespaces, and the ConfigMap kube-system/kube-dns. */
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricsRegistry;
}

export interface DnsServer extends Component {
  /** Valid once ready. */
  readonly port: number;
  readonly hasSynced: boolean;
  /** Ports of `health`, `ready` and `metrics`, if enabled. */
  readonly healthPorts: Readonly<Record<string, number | undefined>>;
}

/** A non-existent top-level domain: the probe ends at the first recursive server. */
const LOOP_DOMAIN = 'sampan-loop-probe';
const PROBE_TIMEOUT_MS = 2_000;

const TRIGGER_TIME = 'endpoints.kubernetes.io/last-change-trigger-time';
const HEADLESS_LABEL = 'service.kubernetes.io/headless';
const CONFIG_MAP = { namespace: 'kube-system', name: 'kube-dns' };

/** Cluster DNS: names of services and pods from the API, all others from the node's name servers. Ready after the initial sync. */
export function startDns(config: DnsServerConfig, deps: DnsServerDeps, signal?: AbortSignal): DnsServer {
  const run = new DnsRun(config, deps);
  const component = runComponent(signal, ({ signal: stopping, ready }) => run.run(stopping, ready));
  return {
    ...{ ready: component.ready, done: component.done },
    [Symbol.asyncDispose]: () => component[Symbol.asyncDispose](),
    get port() {
      return run.port;
    },
    get hasSynced() {
      return run.informers.hasSynced;
    },
    get healthPorts() {
      return run.healthPorts;
    },
  };
}

class DnsRun {
  readonly informers: InformerFactory;
  readonly #metrics: DnsMetrics;
  readonly #resolver: Resolver;
  readonly #endpoints: readonly HealthEndpoint[];
  readonly #loopProbe: string;
  #config: DnsConfig = NO_CONFIG;
  #upstream: readonly ServerAddress[];
  port: number;

  constructor(
    private readonly config: DnsServerConfig,
    private readonly deps: DnsServerDeps,
  ) {
    const { random, logger } = deps;
    const { clusterDomain: domain = 'cluster.local', ttlSeconds = 30, serviceIps: serverIps = [] } = config;
    const index = new ServiceIndex();
    this.port = config.port;
    this.informers = new InformerFactory(deps.client, deps);
    this.#metrics = new DnsMetrics(deps.metrics, config.port);
    this.#upstream = usableServers(config, logger);
    this.#loopProbe = `${random.int(2 ** 31)}.${random.int(2 ** 31)}.${LOOP_DOMAIN}`;
    this.#resolver = new Resolver({
      ...{ ...deps, index, metrics: this.#metrics, zone: new ClusterZone({ domain, ttlSeconds, serverIps }, index) },
      forwarder: new Forwarder({ ...deps, metrics: this.#metrics }),
      config: () => this.#config,
      upstream: () => this.#upstream,
      loopProbe: this.#loopProbe,
      onLoop: () => this.#dropLoopingUpstream(),
      isSynced: () => this.informers.hasSynced,
    });
    this.#endpoints = healthEndpoints(config, { metrics: deps.metrics, logger: deps.logger, isSynced: () => this.informers.hasSynced });
    this.#follow(index);
  }

  get healthPorts(): Readonly<Record<string, number | undefined>> {
    return Object.fromEntries(this.#endpoints.map(({ name, server }) => [name, server.port]));
  }

  async run(stopping: AbortSignal, ready: () => void): Promise<void> {
    const { config, deps } = this;
    const servers: AsyncDisposable[] = [];
    try {
      for (const { server, bindAddress } of this.#endpoints) {
        await server.listen(bindAddress);
        servers.push(server);
      }
      this.informers.start(stopping);
      for (const host of config.listen) await this.#listen(host, servers);
      await raceAbort(this.informers.synced(), stopping);
      ready();
      probeForLoops(this.#loopProbe, this.#upstream, deps);
      await waitForAbort(stopping);
    } finally {
      for (const server of servers) await server[Symbol.asyncDispose]();
      await this.informers.stop();
    }
  }

  async #listen(host: string, servers: AsyncDisposable[]): Promise<void> {
    const deps = { ...this.deps, resolver: this.#resolver, metrics: this.#metrics };
    const udp = await listenUdp({ host, port: this.port }, deps);
    servers.push(udp);
    this.port = udp.port;
    servers.push(await listenTcp({ host, port: this.port }, deps));
  }

  #dropLoopingUpstream(): void {
    if (this.#upstream.length > 0)
      this.deps.logger.error('the name servers of the node forward to cluster DNS: they are not used; set upstreamNameservers');
    this.#upstream = [];
  }

  #follow(index: ServiceIndex): void {
    const { informers, deps } = this;
    followServices(informers, index, (slice) => {
      const changed = Date.parse(slice.metadata?.annotations?.[TRIGGER_TIME] ?? '');
      const isCounted = Number.isFinite(changed) && informers.hasSynced && slice.metadata?.labels?.[HEADLESS_LABEL] !== undefined;
      if (isCounted) this.#metrics.programmingSeconds.observe((deps.clock.now() - changed) / 1000);
    });
    followConfig(informers, deps.logger, (read) => {
      if (read.problems.length > 0) this.#metrics.failedReloads.inc();
      this.#config = read;
    });
  }
}

function followServices(informers: InformerFactory, index: ServiceIndex, onSlice: (slice: discovery.EndpointSlice) => void): void {
  informers.of(core.Namespace).addHandler({
    add: (namespace) => index.putNamespace(namespace),
    delete: (namespace) => index.removeNamespace(namespace),
  });
  informers.of(core.Service).addHandler({
    add: (service) => index.putService(service),
    update: (_, service) => index.putService(service),
    delete: (service) => index.removeService(service),
  });
  informers.of(discovery.EndpointSlice).addHandler({
    add: (slice) => {
      index.putSlice(slice);
      onSlice(slice);
    },
    update: (before, slice) => {
      index.removeSlice(before);
      index.putSlice(slice);
      onSlice(slice);
    },
    delete: (slice) => index.removeSlice(slice),
  });
}

function followConfig(informers: InformerFactory, logger: Logger, use: (config: DnsConfig) => void): void {
  const { namespace, name } = CONFIG_MAP;
  const read = (map: core.ConfigMap | undefined) => {
    const config = readDnsConfig(map);
    for (const problem of config.problems)
      logger.warn('a setting of cluster DNS has no effect', { configMap: `${namespace}/${name}`, problem });
    use(config);
  };
  informers.of(core.ConfigMap, { namespace, fieldSelector: `metadata.name=${name}` }).addHandler({
    add: (map) => read(map),
    update: (_, map) => read(map),
    delete: () => read(undefined),
  });
}

/** Excludes this server's own addresses: forwarding to itself would loop. */
function usableServers({ upstream = [], listen, port, serviceIps = [] }: DnsServerConfig, logger: Logger): readonly ServerAddress[] {
  return upstream.flatMap((text) => {
    const server = serverAddress(text);
    const isSelf = server !== undefined && (serviceIps.includes(server.host) || (listen.includes(server.host) && server.port === port));
    if (server === undefined || isSelf)
      logger.warn('a name server is not used', { server: text, reason: isSelf ? 'it is this one' : 'no address' });
    return server === undefined || isSelf ? [] : [server];
  });
}

/** Detects forwarding loops: queries each name server for a random name and watches for its return. */
function probeForLoops(name: string, servers: readonly ServerAddress[], { clock, random }: DnsServerDeps): void {
  const query = packet.encode({ type: 'query', id: 0, flags: packet.RECURSION_DESIRED, questions: [{ type: 'HINFO', name, class: 'IN' }] });
  for (const server of servers) {
    // Only the query matters, not the answer.
    exchangeUdp(query, server, { clock, timeoutMs: PROBE_TIMEOUT_MS, id: random.int(65_536) }).catch(() => {});
  }
}
