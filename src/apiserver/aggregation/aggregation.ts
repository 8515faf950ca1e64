import { type Clock, isAbort, type Logger, type MetricsRegistry, type Random, type Requeue, runWorkers, WorkQueue } from '#base';
import type { Client } from '#client';
import { isStatusReason } from '#machinery';
import type { RemoteVersions } from '../discovery/merged-groups.ts';
import type { ApiResponse, Handler } from '../handlers/api-response.ts';
import type { KubeletConnector } from '../kubelet-client/kubelet-connector.ts';
import type { ResourceTable } from '../registry/generic/resource-table.ts';
import type { ApiRequest } from '../request/api-request.ts';
import { ServiceEndpoints } from '../service-endpoints/service-endpoints.ts';
import { Availability } from './availability.ts';
import { type Backend, textResponse } from './backend.ts';
import { HttpsBackend, type ProxyClientCertificate } from './https-backend.ts';
import { InProcessBackend } from './in-process-backend.ts';
import { type RemoteApi, serviceKey } from './remote-api.ts';
import { RemoteApis } from './remote-apis.ts';
import { RemoteDiscovery } from './remote-discovery.ts';
import { RemoteOpenApi } from './remote-openapi.ts';

export interface AggregationConfig {
  /** As `--enable-aggregator-routing`. Default true: to endpoints. */
  readonly routesToEndpoints?: boolean;
  /** As `--proxy-client-cert-file` and `--proxy-client-key-file`. */
  readonly proxyClient?: ProxyClientCertificate;
  readonly requestTimeoutMs: number;
}

export interface AggregationDeps {
  readonly table: ResourceTable;
  readonly kubelets: KubeletConnector;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricsRegistry;
  /** The cluster's clock, for conditions. */
  readonly clock: Clock;
  /** Real time, for requests to other servers. */
  readonly peerClock: Clock;
}

/** Upstream's interval of availability checks. */
const CHECK_MS = 30_000;
/** Upstream's interval of OpenAPI downloads. */
const REFRESH_MS = 60_000;
/** The first retry is early: the server may just be starting. */
const FIRST_RETRY_MS = 100;
const WORKERS = 8;

interface Connection {
  readonly backend: Backend;
  readonly isInProcess: boolean;
  refreshedAt: number;
  /** Consecutive failures. */
  failures: number;
}

const NEVER_REFRESHED = { refreshedAt: Number.NEGATIVE_INFINITY, failures: 0 };

/** The aggregation layer: proxies requests for APIService groups to their servers, and merges their discovery and OpenAPI. */
export class Aggregation {
  readonly discovery = new RemoteDiscovery();
  readonly openapi = new RemoteOpenApi();
  readonly #apis: RemoteApis;
  readonly #deps: AggregationDeps;
  #config: AggregationConfig;
  readonly #endpoints: ServiceEndpoints;
  readonly #queue: WorkQueue<string>;
  readonly #connections = new Map<string, Connection>();
  readonly #inProcess = new Map<string, Handler>();
  #followsServices = false;

  constructor(config: AggregationConfig, deps: AggregationDeps) {
    this.#config = config;
    this.#deps = deps;
    const { routesToEndpoints = true } = config;
    this.#endpoints = new ServiceEndpoints({ ...deps, routing: routesToEndpoints ? 'endpoint' : 'cluster-ip' });
    this.#queue = new WorkQueue({ clock: deps.peerClock });
    this.#apis = new RemoteApis(deps.table, { changed: (api) => this.#changed(api), removed: (name) => this.#removed(name) });
  }

  /** Proxies requests for aggregated APIs; all others go to `next`. */
  delegate(next: Handler): Handler {
    return (request) => {
      if (this.#apis.isEmpty) return next(request);
      const api = this.#target(request);
      return api === undefined ? next(request) : this.#forward(api, request);
    };
  }

  /** Serves APIServices that name this service in-process, without a network or an actual Service. */
  mount(service: { readonly namespace: string; readonly name: string; readonly port: number }, handler: Handler): Disposable {
    const key = serviceKey(service);
    this.#inProcess.set(key, handler);
    this.#reconnect(key);
    return {
      [Symbol.dispose]: () => {
        this.#inProcess.delete(key);
        this.#reconnect(key);
      },
    };
  }

  /** Replaces the proxy client certificate for backends. */
  useProxyClient(proxyClient: ProxyClientCertificate): void {
    this.#config = { ...this.#config, proxyClient };
    for (const api of this.#apis.all()) this.#changed(api);
  }

  /** The versions served by other servers, for discovery. */
  versions(): RemoteVersions {
    return {
      remote: [...this.#apis.all()].map((api) => ({ ...api, discovery: this.discovery.of(api) })),
      registration: (name) => this.#apis.registration(name),
    };
  }

  get isEmpty(): boolean {
    return this.#apis.isEmpty;
  }

  start(): Promise<void> {
    return this.#apis.start();
  }

  /** Maintains aggregated APIs until the signal aborts. */
  async run(client: Client, signal: AbortSignal): Promise<void> {
    const availability = new Availability({ ...this.#deps, endpoints: this.#endpoints, client });
    const onError = (name: string, error: unknown) => {
      if (!isRace(error) && !isAbort(error, signal)) this.#deps.logger.warn('an aggregated API is unavailable', { name, error });
    };
    try {
      await runWorkers({ queue: this.#queue, concurrency: WORKERS, signal, onError }, (name) => this.#sync(name, availability));
    } finally {
      this.#queue.shutDown();
      for (const { backend } of this.#connections.values()) backend.close();
      this.#connections.clear();
    }
  }

  #target({ info }: ApiRequest): RemoteApi | undefined {
    if (info.isResource) return this.#apis.find(info.group, info.version);
    const [, root, group = '', version = '', ...rest] = info.path.split('/');
    // What is below discovery, and was not authorized as a resource, is not the other server's to make sense of: `/apis/g/v1//nodes`.
    if (rest.some((segment) => segment !== '') || rest.length > 1) return undefined;
    if (root === 'apis' && version !== '') return this.#apis.find(group, version);
    return root === 'api' && group !== '' && version === '' ? this.#apis.find('', group) : undefined;
  }

  #forward(api: RemoteApi, request: ApiRequest): Promise<ApiResponse> | ApiResponse {
    const connection = this.#connections.get(api.name);
    if (!api.isAvailable || connection === undefined) return textResponse(503, 'service unavailable');
    return connection.backend.forward(request);
  }

  #changed(api: RemoteApi): void {
    this.#connections.get(api.name)?.backend.close();
    const handler = this.#inProcess.get(serviceKey(api.service));
    const isInProcess = handler !== undefined;
    const backend = isInProcess ? new InProcessBackend(handler, this.#deps.clock) : this.#overNetwork(api);
    this.#connections.set(api.name, { backend, isInProcess, ...NEVER_REFRESHED });
    if (!isInProcess) this.#followServices();
    this.#queue.add(api.name);
  }

  #overNetwork(api: RemoteApi): Backend {
    const { requestTimeoutMs, proxyClient: certificate } = this.#config;
    return new HttpsBackend(api, { endpoints: this.#endpoints, clock: this.#deps.peerClock, requestTimeoutMs, certificate });
  }

  #removed(name: string): void {
    this.#connections.get(name)?.backend.close();
    this.#connections.delete(name);
    // Removed by the worker, which may be processing it.
    this.#queue.add(name);
  }

  #reconnect(service: string): void {
    for (const api of this.#apis.all()) if (serviceKey(api.service) === service) this.#changed(api);
  }

  #followServices(): void {
    if (this.#followsServices) return;
    this.#followsServices = true;
    const { table, logger } = this.#deps;
    const onServiceChange = (key: string) => {
      for (const { name, service } of this.#apis.all()) if (key.includes(`/${service.namespace}/`)) this.#queue.add(name);
    };
    for (const { cache } of [table.storage('', 'v1', 'services'), table.storage('discovery.k8s.io', 'v1', 'endpointslices')]) {
      cache
        .follow({ put: onServiceChange, remove: onServiceChange })
        .catch((error: unknown) => logger.warn('cannot watch services', { error }));
    }
  }

  async #sync(name: string, availability: Availability): Promise<Requeue | undefined> {
    const api = this.#apis.named(name);
    const connection = this.#connections.get(name);
    if (api === undefined || connection === undefined) {
      availability.forget(name);
      this.discovery.forget(name);
      const [version = '', ...group] = name.split('.');
      this.openapi.forget({ version, group: group.join('.') });
      return undefined;
    }
    const { backend, isInProcess } = connection;
    const isAvailable = await availability.check(api, backend, isInProcess);
    if (!isAvailable) {
      this.discovery.markStale(api);
      connection.refreshedAt = Number.NEGATIVE_INFINITY;
      return { afterMs: Math.min(FIRST_RETRY_MS * 2 ** connection.failures++, CHECK_MS) };
    }
    connection.failures = 0;
    await this.#refresh(api, connection);
    // In-process backends need no periodic check.
    return isInProcess ? undefined : { afterMs: CHECK_MS };
  }

  async #refresh(api: RemoteApi, connection: Connection): Promise<void> {
    const now = this.#deps.peerClock.monotonic();
    if (now - connection.refreshedAt < REFRESH_MS) return;
    await this.discovery.refresh(api, connection.backend);
    connection.refreshedAt = now;
    await this.openapi.refresh(api, connection.backend);
  }
}

/** Conflict or deletion: the next event requeues it. */
function isRace(error: unknown): boolean {
  return isStatusReason(error, 'Conflict') || isStatusReason(error, 'NotFound');
}
