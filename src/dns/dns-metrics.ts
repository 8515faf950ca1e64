import { buildInfo, type Counter, type Family, type Histogram, type MetricsRegistry } from '#base';

export type Protocol = 'udp' | 'tcp';
/** The CoreDNS plugin that corresponds to the source of an answer; empty for none. */
export type Plugin = 'kubernetes' | 'hosts' | 'forward' | '';
type ServerLabels = 'server' | 'zone' | 'view';
type CacheLabels = 'server' | 'type' | 'zones' | 'view';

/** CoreDNS' buckets: 0.25 ms doubling to 8 s. */
const TIME_BUCKETS = Array.from({ length: 16 }, (_, i) => 0.000_25 * 2 ** i);
const SIZE_BUCKETS = [0, 100, 200, 300, 400, 511, 1023, 2047, 4095, 8291, 16_000, 32_000, 48_000, 64_000];
const PROGRAMMING_BUCKETS = Array.from({ length: 20 }, (_, i) => 0.001 * 2 ** i);
const PLUGINS = ['cache', 'forward', 'health', 'hosts', 'kubernetes', 'loop', 'prometheus', 'ready', 'reload'];

/** CoreDNS' metric names and labels, so that its dashboards and alerts work. */
export class DnsMetrics {
  readonly cacheRequests: Counter;
  readonly cacheMisses: Counter;
  readonly servedStale: Counter;
  readonly rejectedForwards: Counter;
  readonly failedReloads: Counter;
  readonly panics: Counter;
  readonly programmingSeconds: Histogram;
  readonly #server: Readonly<Record<ServerLabels, string>>;
  readonly #requests: Family<Counter, ServerLabels | 'proto' | 'family' | 'type'>;
  readonly #responses: Family<Counter, ServerLabels | 'rcode' | 'plugin'>;
  readonly #seconds: Histogram;
  readonly #requestBytes: Readonly<Record<Protocol, Histogram>>;
  readonly #replyBytes: Readonly<Record<Protocol, Histogram>>;
  readonly #cacheHits: Family<Counter, CacheLabels>;
  readonly #forwardSeconds: Family<Histogram, 'proxy_name' | 'to' | 'rcode'>;
  /** Cached series by labels: a registry lookup costs more than counting. */
  readonly #requestSeries = new Map<string, Counter>();
  readonly #responseSeries = new Map<string, Counter>();

  constructor(
    private readonly registry: MetricsRegistry,
    port: number,
  ) {
    const server = { server: `dns://:${port}`, zone: '.', view: '' };
    const labels = ['server', 'zone', 'view'] as const;
    const cacheLabels = ['server', 'zones', 'view'] as const;
    const cache = { server: server.server, zones: '.', view: '' };
    const counter = (name: string, help: string) => registry.counter({ name, help }).with({});
    const sizes = (name: string, help: string) => {
      const family = registry.histogram({ name, help, labels: [...labels, 'proto'], buckets: SIZE_BUCKETS });
      return { udp: family.with({ ...server, proto: 'udp' }), tcp: family.with({ ...server, proto: 'tcp' }) };
    };
    const cached = (name: string, help: string) => registry.counter({ name, help, labels: cacheLabels }).with(cache);
    this.#server = server;
    this.#requests = registry.counter({
      name: 'coredns_dns_requests_total',
      help: 'DNS requests',
      labels: [...labels, 'proto', 'family', 'type'],
    });
    this.#responses = registry.counter({
      name: 'coredns_dns_responses_total',
      help: 'DNS responses',
      labels: [...labels, 'rcode', 'plugin'],
    });
    this.#seconds = registry
      .histogram({ name: 'coredns_dns_request_duration_seconds', help: 'From request to response', labels, buckets: TIME_BUCKETS })
      .with(server);
    this.#requestBytes = sizes('coredns_dns_request_size_bytes', 'Bytes of requests');
    this.#replyBytes = sizes('coredns_dns_response_size_bytes', 'Bytes of responses');
    this.#cacheHits = registry.counter({
      name: 'coredns_cache_hits_total',
      help: 'Forwarded names that were answered from the cache',
      labels: ['server', 'type', 'zones', 'view'],
    });
    this.cacheRequests = cached('coredns_cache_requests_total', 'Forwarded names that were looked up in the cache');
    this.cacheMisses = cached('coredns_cache_misses_total', 'Forwarded names that were not in the cache');
    this.servedStale = cached('coredns_cache_served_stale_total', 'Answers from the cache after their time');
    this.#forwardSeconds = registry.histogram({
      name: 'coredns_proxy_request_duration_seconds',
      help: 'How long other name servers take',
      labels: ['proxy_name', 'to', 'rcode'],
      buckets: TIME_BUCKETS,
    });
    this.rejectedForwards = counter('coredns_forward_max_concurrent_rejects_total', 'Requests refused because too many were open');
    this.failedReloads = counter('coredns_reload_failed_total', 'Configurations that could not be read as a whole');
    this.panics = counter('coredns_panics_total', 'Requests that failed by a fault of the server');
    this.programmingSeconds = registry
      .histogram({
        name: 'coredns_kubernetes_dns_programming_duration_seconds',
        help: 'From the change of an endpoint to answers that have it',
        labels: ['service_kind'],
        buckets: PROGRAMMING_BUCKETS,
      })
      .with({ service_kind: 'headless_with_selector' });
    this.#describeServer();
  }

  #describeServer(): void {
    const { registry } = this;
    const enabled = registry.gauge({
      name: 'coredns_plugin_enabled',
      help: 'What the server does, under the names of plugins',
      labels: ['server', 'zone', 'view', 'name'],
    });
    for (const name of PLUGINS) enabled.with({ ...this.#server, name }).set(1);
    registry
      .gauge({ name: 'coredns_build_info', help: 'What was built', labels: ['version', 'revision', 'goversion'] })
      .with({ version: 'sampan', revision: buildInfo().commit, goversion: '' })
      .set(1);
  }

  request(protocol: Protocol, client: string, type: string): void {
    const family = client.includes(':') ? '2' : '1';
    const key = `${protocol}${family}${type}`;
    let series = this.#requestSeries.get(key);
    if (series === undefined) {
      series = this.#requests.with({ ...this.#server, proto: protocol, family, type });
      this.#requestSeries.set(key, series);
    }
    series.inc();
  }

  response(exchange: { protocol: Protocol; request: Buffer; reply: Buffer; plugin: Plugin; seconds: number }): void {
    const { protocol, request, reply, plugin, seconds } = exchange;
    const rcode = rcodeLabel(reply.readUInt16BE(2) & 0xf);
    const key = rcode + plugin;
    let series = this.#responseSeries.get(key);
    if (series === undefined) {
      series = this.#responses.with({ ...this.#server, rcode, plugin });
      this.#responseSeries.set(key, series);
    }
    series.inc();
    this.#seconds.observe(seconds);
    this.#requestBytes[protocol].observe(request.length);
    this.#replyBytes[protocol].observe(reply.length);
  }

  cacheHit(isDenial: boolean): void {
    this.#cacheHits.with({ server: this.#server.server, type: isDenial ? 'denial' : 'success', zones: '.', view: '' }).inc();
  }

  /** `rcode`: undefined when the server did not answer. */
  forwarded(to: string, rcode: number | undefined, seconds: number): void {
    const label = rcode === undefined ? 'SERVFAIL' : rcodeLabel(rcode);
    this.#forwardSeconds.with({ proxy_name: 'forward', to, rcode: label }).observe(seconds);
  }
}

const RCODES = ['NOERROR', 'FORMERR', 'SERVFAIL', 'NXDOMAIN', 'NOTIMP', 'REFUSED'];
const TYPES = new Set('A AAAA MX SOA CNAME PTR TXT NS SRV DS DNSKEY RRSIG NSEC NSEC3 HTTPS ANY'.split(' '));

/** Limits the cardinality: clients can send any type and code. */
export function rcodeLabel(rcode: number): string {
  return RCODES[rcode] ?? 'other';
}

export function typeLabel(type: string): string {
  return TYPES.has(type) ? type : 'other';
}
