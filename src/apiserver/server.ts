import type { SecureContextOptions } from 'node:tls';
import {
  buildInfoMetric,
  type Clock,
  type Component,
  EventLoopWatch,
  isLocalHost,
  type Logger,
  type MetricsRegistry,
  processMetrics,
  type Random,
  realClock,
  runComponent,
  type SniSource,
  waitForAbort,
} from '#base';
import { Client } from '#client';
import { FeatureGates, type GateReleases, type GateSettings } from '#machinery';
import type { Store } from '#store';
import type { AdmissionPlugin } from './admission/admission.ts';
import { admissionChain } from './admission/admission.ts';
import type { PluginConfigurations } from './admission/configuration/admission-configuration.ts';
import { OptionalPlugins } from './admission/optional-plugins.ts';
import { type OptionalPluginName, orderedPlugins, type PluginName } from './admission/plugin-order.ts';
import type { TolerationDefaults } from './admission/plugins/default-toleration-seconds.ts';
import { builtInPlugins } from './admission/plugins.ts';
import { advertisedAddress, externalHost } from './advertised-address.ts';
import { Aggregation, type AggregationConfig } from './aggregation/aggregation.ts';
import { type AuditConfig, openAudit } from './audit/audit.ts';
import type { Authenticator } from './authn/authenticator.ts';
import type { RequestHeaderConfig } from './authn/request-header.ts';
import type { Authorizer } from './authz/authorizer.ts';
import { alwaysAllow } from './authz/privileged-groups.ts';
import { ensureRestoredObjects, ensureSystemObjects, type SystemObjectsOptions } from './bootstrap/system-objects.ts';
import { SystemObjectsBootstrap } from './bootstrap/system-objects-bootstrap.ts';
import { builtInHandlers } from './built-in-handlers.ts';
import { AllocationRepair } from './controllers/allocation-repair.ts';
import { ApiServiceRegistration } from './controllers/api-service-registration.ts';
import { DefinitionsController } from './controllers/definitions-controller.ts';
import { FlowSchemaStatus } from './controllers/flow-schema-status.ts';
import { IdentityLease, serverId } from './controllers/identity-lease.ts';
import { ServerLeases } from './controllers/server-leases.ts';
import { StorageVersionMigrator } from './controllers/storage-version-migrator.ts';
import { SystemObjectsController } from './controllers/system-objects-controller.ts';
import type { EgressSelector } from './egress/egress-selector.ts';
import { type HttpPolicy, requestChain } from './filters/chain.ts';
import type { InFlightLimits } from './filters/in-flight-limit.ts';
import { RequestsInFlight } from './filters/requests-in-flight.ts';
import { flowControlDumps } from './flow-control/debug-dumps.ts';
import { flowController } from './flow-controller.ts';
import type { Handler } from './handlers/api-response.ts';
import { HandlerTable, mergedHandlers, type ResourceHandlers } from './handlers/handler-table.ts';
import { HealthChecks } from './handlers/health/health-checks.ts';
import { StartSteps } from './handlers/health/start-steps.ts';
import { nonResourceRouter } from './handlers/non-resource.ts';
import type { HandlerDeps } from './handlers/resource-call.ts';
import { PAGE_NOT_FOUND, resourceRouter } from './handlers/route.ts';
import { type ComponentChecks, componentChecks } from './handlers/subresources/component-statuses.ts';
import { BodyBudget } from './http/body-budget.ts';
import { FailureLog } from './http/failure-log.ts';
import { type Listener, listen } from './http/listener.ts';
import { PendingFrames } from './http/pending-frames.ts';
import { ProtobufMessages } from './http/protobuf-messages.ts';
import { RequestBatcher } from './http/request-batcher.ts';
import { type ServerContext, serveExchange } from './http/serve-exchange.ts';
import { SharedStates } from './http/shared-states.ts';
import { WatchFlushes } from './http/watch-flush.ts';
import { inProcessTransport } from './in-process/in-process-transport.ts';
import { HttpsKubeletConnector } from './kubelet-client/https-kubelet-connector.ts';
import type { KubeletConnector } from './kubelet-client/kubelet-connector.ts';
import { featureMetrics } from './metrics/feature-metrics.ts';
import { objectCounts } from './metrics/object-counts.ts';
import { OpenApi, openapiHandler } from './openapi/index.ts';
import { DEFAULT_SERVICES, ServiceClaims, type ServicesConfig } from './registry/core/allocation/service-claims.ts';
import { type CachedObjects, snapshotsOf } from './registry/generic/cached-objects.ts';
import { addBuiltInResources, type CatalogOptions } from './registry/generic/catalog.ts';
import { HeapQuota } from './registry/generic/heap-quota.ts';
import { KEY_PREFIX } from './registry/generic/resource-storage.ts';
import { ResourceTable } from './registry/generic/resource-table.ts';
import { StoreQuota } from './registry/generic/store-quota.ts';
import { BUILT_IN_GROUPS } from './registry/groups.ts';
import type { RuntimeConfig } from './registry/runtime-config.ts';
import { NEWEST_RELEASE, servedKinds } from './registry/served-kinds.ts';
import type { UserInfo } from './request/user.ts';
import type { Security, SecurityContext } from './security.ts';
import { Encryption, type EncryptionConfig } from './storage-encryption/encryption.ts';
import type { StorageMediaType } from './storage-format/storage-format.ts';
import { WEBSOCKET_FEATURE } from './streaming/pod-connections.ts';
import { openTracing, type ServerTracing } from './tracing/server-tracing.ts';
import { tracedDeps } from './tracing/traced-deps.ts';
import type { TracingConfiguration } from './tracing/tracing-configuration.ts';
import { ResidentMemory } from './watch-cache/resident-memory.ts';

export interface ApiServerConfig {
  /** Absent: in-process only. */
  readonly listen?: ListenConfig;
  readonly version: Readonly<Record<string, string>>;
  readonly anonymousAuth: boolean;
  /** The advertised address. Default: the listen address. */
  readonly advertiseAddress?: string;
  /** The name by which clients outside reach the server: in discovery, and in the URL of its keys. Default: the advertised address. */
  readonly externalHostname?: string;
  /** The machine's address, for a server that listens on loopback or on all addresses. */
  readonly hostAddress?: string;
  /** The server's identity, for its lease in kube-system. Absent: no lease. */
  readonly hostname?: string;
  /** Creates the default objects: namespaces, roles, the kubernetes service. Default true. */
  readonly systemObjects?: boolean;
  /** Ranges of services. Default: 10.96.0.0/16, ports 30000 to 32767. */
  readonly services?: ServicesConfig;
  readonly admission?: AdmissionConfig;
  /** The request timeout, except for long-running requests. Default: a minute. */
  readonly requestTimeoutMs?: number;
  /** Limits of concurrent requests. */
  readonly inFlight?: InFlightLimits;
  /** As `--enable-priority-and-fairness`. Default true. */
  readonly priorityAndFairness?: boolean;
  /** The limit of request bodies in memory. Default: 256 MiB. */
  readonly maxBodyBytesInFlight?: number;
  /** The minimum duration of watches without timeoutSeconds. Default: half an hour. */
  readonly minWatchTimeoutMs?: number;
  /** The store quota; 0 is the default: 2 GiB. */
  readonly quotaBytes?: number;
  /** The TTL of events. Default: an hour. */
  readonly eventTtlSeconds?: number;
  /** Response headers for browsers and load balancing. */
  readonly http?: HttpPolicy;
  /** Concurrent streams per HTTP/2 connection. Default: 1000. */
  readonly maxStreamsPerConnection?: number;
  /** How aggregated servers are reached, and the proxy client certificate. */
  readonly aggregation?: Omit<AggregationConfig, 'requestTimeoutMs'>;
  /** Front proxies that may authenticate users; published to aggregated servers, and trusted through `security`. */
  readonly requestHeader?: RequestHeaderConfig;
  /** How long the server continues after readiness fails. Default: 0. */
  readonly shutdownDelayMs?: number;
  /** Encryption at rest. Default: none. */
  readonly encryption?: EncryptionConfig;
  /** The prefix of all keys in the store. Default: `/registry`. */
  readonly keyPrefix?: string;
  /** The storage media type. Default: JSON; in stores other than etcd this server's own format. */
  readonly storageMediaType?: StorageMediaType;
  /** Which group versions and resources are served. */
  readonly runtimeConfig?: RuntimeConfig;
  /** Feature gates. */
  readonly featureGates?: GateSettings;
  /** The emulated release. Default: the newest. */
  readonly emulation?: GateReleases;
  /** Audit policy and backends. Default: none. */
  readonly audit?: AuditConfig;
  /** Where spans of requests are sent, and how many. Default: none are recorded. */
  readonly tracing?: TracingConfiguration;
}

const REQUEST_TIMEOUT_MS = 60_000;
/** Requests that take longer are aborted when the server stops. */
const DRAIN_LIMIT_MS = 10_000;

export interface AdmissionConfig {
  /** Which of the plugins run that are off by default. */
  readonly enabled?: readonly OptionalPluginName[];
  /** Names of disabled plugins. */
  readonly disabled?: readonly PluginName[];
  readonly tolerations?: TolerationDefaults;
  /** Configurations of plugins. */
  readonly plugins?: PluginConfigurations;
}

export interface ListenConfig {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  readonly tls: SecureContextOptions & SniSource;
}

export interface ApiServerDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricsRegistry;
  /** The decoded content of the store, from a server with the same content. */
  readonly inherited?: CachedObjects;
  /** Default: every built-in kind. */
  readonly catalog?: Pick<CatalogOptions, 'groups'>;
  /** Default: none; only in-process callers are authenticated. */
  readonly authenticators?: readonly Authenticator[];
  /** Default: everything is allowed. */
  readonly authorizer?: Authorizer;
  /** Default: every built-in plugin. */
  readonly admission?: readonly AdmissionPlugin[];
  /** The connector to kubelets. Default: over the network, without a client certificate. */
  readonly kubelets?: KubeletConnector;
  /** Egress proxies. Default: none; the connector to kubelets has its own. */
  readonly egress?: EgressSelector | undefined;
  /** The checks of `componentstatuses`. Default: upstream's local health ports. */
  readonly components?: ComponentChecks;
  /** Instead of `authenticators` and `authorizer`: built from the server's own storage. */
  readonly security?: (context: SecurityContext) => Security;
}

/** The identity of the server's own writes. */
const OWN_USER: UserInfo = { name: 'system:apiserver', groups: ['system:masters', 'system:authenticated'] };

const NO_HANDLERS: ResourceHandlers = { verbs: {}, subresources: {} };

function ownHandlers(deps: ApiServerDeps, kubelets: KubeletConnector, gates: FeatureGates): ResourceHandlers {
  const { store, components = componentChecks(store) } = deps;
  const extendsWebSockets = gates.isEnabled(WEBSOCKET_FEATURE);
  // Real time: peers are outside of the cluster's (possibly virtual) time.
  return deps.catalog ? NO_HANDLERS : builtInHandlers({ kubelets, components, clock: realClock, extendsWebSockets });
}

export interface ApiServer extends Component {
  /** The filter chain. */
  readonly handle: Handler;
  readonly table: ResourceTable;
  /** For mounting in-process APIs. */
  readonly aggregation: Pick<Aggregation, 'mount' | 'useProxyClient'>;
  /** The cached objects, for a server on a copy of its store. */
  snapshots(): CachedObjects['snapshots'];
  /** Starts to listen, for a server that was started without. Resolves to the port. */
  listen(where: ListenConfig): Promise<number>;
  /**
   * Also listens at this address of the machine, on the same port, if the server listens on loopback or on all addresses: neither is
   * valid in the endpoints of the `kubernetes` service.
   */
  listenForPods(address: string): Promise<void>;
  /** Valid once ready, when the server listens. */
  readonly port: number | undefined;
  /** Replaces the certificate for new connections. */
  useCertificate(tls: SecureContextOptions & SniSource): void;
}

/** Gates that are off by default and decide about fields of objects. */
const FIELD_GATES: readonly string[] = ['ClusterTrustBundleProjection', 'PodCertificateRequest'];

// One file: the composition root of the API server; the parts that it connects have folders of their own.
export function startApiServer(config: ApiServerConfig, deps: ApiServerDeps, signal?: AbortSignal): ApiServer {
  const tracing = openTracing(config.tracing, config.hostname ?? '', { ...deps, realClock, dial: deps.egress?.controlplane });
  return startServer({ config, tracing }, tracedDeps(deps, tracing?.tracer), signal);
}

interface TracedConfig {
  readonly config: ApiServerConfig;
  readonly tracing: ServerTracing | undefined;
}

function startServer({ config, tracing }: TracedConfig, deps: ApiServerDeps, signal?: AbortSignal): ApiServer {
  const table = new ResourceTable();
  const apiServerId = config.hostname === undefined ? undefined : serverId(config.hostname);
  const security = deps.security?.({ ...deps, table, apiServerId, address: () => address() });
  const { kubelets = new HttpsKubeletConnector() } = deps;
  const { emulation = NEWEST_RELEASE } = config;
  const gates = new FeatureGates(config.featureGates ?? new Map(), emulation);
  const resourceHandlers = mergedHandlers(ownHandlers(deps, kubelets, gates), security?.handlers ?? NO_HANDLERS);
  const { authenticators = [], authorizer = alwaysAllow } = security ?? deps;
  const { keyPrefix = KEY_PREFIX } = config;
  const claims = new ServiceClaims(config.services ?? DEFAULT_SERVICES, { ...deps, table, keyPrefix });
  const quota = new StoreQuota({ ...deps, quotaBytes: config.quotaBytes });
  const encryption = config.encryption && new Encryption(config.encryption, { ...deps, apiServerId, clock: realClock });
  // etcd may be shared with upstream's servers.
  const storageMediaType = config.storageMediaType ?? (deps.store.engine === 'etcd' ? 'application/json' : undefined);
  const memory = new ResidentMemory();
  const heap = new HeapQuota({ ...deps, objects: () => memory.objects, dropHistory: () => memory.dropHistory() });
  const storageDeps = { ...deps, quota, heap, memory, encryption, storageMediaType, keyPrefix };
  const catalog: CatalogOptions = {
    groups: deps.catalog?.groups ?? BUILT_IN_GROUPS,
    subresources: resourceHandlers.subresources,
    extras: claims.extras(),
    isServed: servedKinds(config.runtimeConfig, emulation, gates),
    release: emulation.emulated,
    features: new Set(FIELD_GATES.filter((name) => gates.isEnabled(name))),
    ...(config.eventTtlSeconds && { ttlSeconds: config.eventTtlSeconds }),
  };
  addBuiltInResources(table, catalog, storageDeps);
  const health = new HealthChecks();
  let isStarted = false;
  let isStopping = false;
  const steps = new StartSteps();
  const storeResponds = async () => (await deps.store.revision()) > 0;
  health.add(
    // Log lines are written synchronously: whoever can check this is not held up by them.
    { name: 'log', check: () => true },
    { name: 'etcd', check: storeResponds },
    { name: 'etcd-readiness', readinessOnly: true, check: storeResponds },
    { name: 'database-quota', readinessOnly: true, check: () => quota.isHealthy() },
    { name: 'heap-quota', readinessOnly: true, check: () => heap.isHealthy() },
    { name: 'informer-sync', readinessOnly: true, check: () => isStarted },
    { name: 'system-objects', readinessOnly: true, check: () => config.systemObjects === false || bootstrap.isComplete },
    // bounded: spread lists are the checks of this program
    ...steps.checks,
    ...(encryption?.usesKms ? [{ name: 'kms-providers', check: () => encryption.check() }] : []),
    { name: 'shutdown', readinessOnly: true, check: () => !isStopping },
  );
  processMetrics(deps.metrics, realClock);
  buildInfoMetric(deps.metrics, config.version);
  featureMetrics(deps.metrics, gates);
  const inFlight = new RequestsInFlight();
  const eventLoop = new EventLoopWatch(deps);
  let listener: Listener | undefined;
  let podListener: { readonly address: string; readonly listener: Listener | undefined } | undefined;
  let tls = config.listen?.tls;
  const address = () => `${externalHost(config)}:${listener?.port ?? 443}`;
  const plugins = deps.admission ?? builtInPlugins({ ...deps, table, kubelets, authorizer, peerClock: realClock }, config.admission);
  const { enabled = [], disabled, plugins: configurations = {} } = config.admission ?? {};
  const ownDeps = { ...deps, table, authorizer, client: () => client, peerClock: realClock };
  const optional = new OptionalPlugins(enabled, configurations, ownDeps);
  const admission = admissionChain(orderedPlugins([...plugins, ...optional.plugins, ...(security?.admission ?? [])], disabled));
  const { minWatchTimeoutMs } = config;
  const timing = { clock: deps.clock, random: deps.random, ...(minWatchTimeoutMs && { minWatchTimeoutMs }) };
  const handlers: HandlerDeps = { ...timing, admission, table, authorizer };
  const resources = resourceRouter(table, handlers, new HandlerTable(resourceHandlers));
  const requestTimeoutMs = config.requestTimeoutMs ?? REQUEST_TIMEOUT_MS;
  const aggregation = new Aggregation({ ...config.aggregation, requestTimeoutMs }, { ...deps, table, kubelets, peerClock: realClock });
  const delegated = aggregation.openapi;
  const openapi = new OpenApi(table, { serverVersion: `${config.version.major}.${config.version.minor}`, delegated });
  const others = nonResourceRouter({
    table,
    health,
    metrics: deps.metrics,
    beforeMetrics: objectCounts(deps.metrics, () => table.all()),
    version: config.version,
    address,
    extra: [
      { prefix: '/openapi', handler: openapiHandler(openapi, deps.clock, delegated) },
      {
        prefix: '/debug/api_priority_and_fairness',
        handler: (request) => (flowControl ? flowControlDumps(flowControl)(request) : PAGE_NOT_FOUND),
      },
      ...(security?.paths ?? []),
    ],
    remote: () => (aggregation.isEmpty ? undefined : aggregation.versions()),
  });
  const audit = openAudit(config.audit, { ...deps, realClock });
  const turns = new RequestBatcher();
  const flowControl = config.priorityAndFairness === false ? undefined : flowController(config, { ...deps, table, turns });
  const handle = requestChain(
    {
      flowControl,
      table,
      metrics: deps.metrics,
      random: deps.random,
      clock: realClock,
      inFlight,
      eventLoop,
      limits: { ...config.inFlight, requestTimeoutMs },
      http: config.http,
      authenticators,
      allowsAnonymous: (path) => security?.allowsAnonymous(path) ?? config.anonymousAuth,
      authorizer,
      audit,
      tracer: tracing?.tracer,
    },
    aggregation.delegate((request) => (request.info.isResource ? resources(request) : others(request))),
  );
  const own = inProcessTransport(handle, OWN_USER, { clock: deps.clock, userAgent: 'kube-apiserver' });
  const client = new Client(own);
  const definitions = new DefinitionsController({ ...storageDeps, table, client, kubelets });
  const registration = new ApiServiceRegistration({ table, client, logger: deps.logger });
  const controllerDeps = { table, client, clock: deps.clock, logger: deps.logger };
  const flowSchemas = new FlowSchemaStatus(controllerDeps);
  const migrator = new StorageVersionMigrator({ ...controllerDeps, metrics: deps.metrics });
  const currentObjects = () => {
    const objects = systemObjects(config, listener, !deps.store.localReads);
    return podListener === undefined ? objects : { ...objects, advertise: { ...objects.advertise, address: podListener.address } };
  };
  const systemObjectsController = new SystemObjectsController({
    ...{ table, logger: deps.logger },
    ensure: () => ensureRestoredObjects(currentObjects(), { ...deps, table, client }),
  });
  const allocationRepair = new AllocationRepair({ ...claims.parts(), clock: deps.clock, logger: deps.logger });
  const context: ServerContext = {
    handle,
    bodies: new BodyBudget(config.maxBodyBytesInFlight),
    eventLoop,
    clock: deps.clock,
    random: deps.random,
    failures: new FailureLog(deps.logger, realClock),
    watchFlushes: new WatchFlushes(deps.metrics),
    sharedStates: new SharedStates(),
    pendingFrames: new PendingFrames(deps.metrics, deps.logger),
    messages: new ProtobufMessages(),
    turns,
  };
  const limits = {
    logger: deps.logger,
    ...(config.requestTimeoutMs && { headersTimeoutMs: config.requestTimeoutMs }),
    ...(config.maxStreamsPerConnection && { maxConcurrentStreams: config.maxStreamsPerConnection }),
  };
  const open = async (where: ListenConfig) => {
    // Without a listener no client waits for the event loop.
    eventLoop.start();
    listener = await listen({ ...where, ...limits, handle: (exchange) => serveExchange(exchange, context) });
    return listener.port;
  };
  const listenForPods = async (address: string) => {
    const { listen: where } = config;
    if (where === undefined || listener === undefined || podListener?.address === address || !isLocalHost(where.host)) return;
    await podListener?.listener?.close(Promise.resolve());
    const isEverywhere = where.host === '0.0.0.0' || where.host === '::';
    const options = { ...where, ...limits, host: address, port: listener.port, tls: tls ?? where.tls };
    const own = isEverywhere ? undefined : await listen({ ...options, handle: (exchange) => serveExchange(exchange, context) });
    podListener = { address, listener: own };
    if (config.systemObjects !== false && config.advertiseAddress === undefined) {
      await ensureRestoredObjects(currentObjects(), { ...deps, table, client });
    }
  };
  /** A full database, or a webhook that is down, does not prevent the start: otherwise neither could be put right. What fails is repeated later. */
  const attempt = async (step: () => Promise<unknown> | undefined) => {
    try {
      await step();
    } catch (error) {
      deps.logger.error('part of the start failed and will be repeated', { error });
    }
  };
  const bootstrap = new SystemObjectsBootstrap({
    ...{ clock: deps.clock, logger: deps.logger },
    ensure: () => ensureSystemObjects(systemObjects(config, listener, !deps.store.localReads), { ...deps, table, client }),
  });
  const component = runComponent(signal, async ({ signal: stopping, ready }) => {
    let leases: ServerLeases | undefined;
    const identity = config.hostname === undefined ? undefined : new IdentityLease(config.hostname, { ...deps, client });
    try {
      await encryption?.start();
      await quota.start();
      await security?.start();
      await definitions.start();
      steps.reach('definitions');
      await attempt(() => allocationRepair.start(deps.store.localReads));
      steps.reach('allocation');
      if (config.listen) await open(config.listen);
      const objects = systemObjects(config, listener, !deps.store.localReads);
      leases = objects.sharesStore ? new ServerLeases({ ...deps, client, keyPrefix, advertise: objects.advertise }) : undefined;
      if (config.systemObjects !== false) {
        await bootstrap.attempt();
        await registration.start();
        await systemObjectsController.start();
      }
      steps.reach('system objects');
      steps.reach('registration');
      await attempt(() => leases?.renew());
      await attempt(() => identity?.start());
      await flowControl?.start();
      await flowSchemas.start();
      await aggregation.start();
      steps.reach('aggregation');
      steps.reach('caches');
      isStarted = true;
      ready();
      await Promise.all([
        waitForAbort(stopping),
        config.systemObjects === false || bootstrap.run(stopping),
        allocationRepair.run(stopping),
        migrator.run(stopping),
        leases?.run(stopping),
        identity?.run(stopping),
        encryption?.run(stopping),
        aggregation.run(client, stopping),
        security?.run(stopping),
      ]);
    } finally {
      // A failed start closes everything too.
      isStopping = true;
      if (isStarted) {
        await leases?.end();
        await identity?.end();
        // No microtask may run in between: a cluster on virtual time would advance.
        if (config.shutdownDelayMs) await realClock.sleep(config.shutdownDelayMs);
      }
      listener?.drain();
      podListener?.listener?.drain();
      await inFlight.drained(DRAIN_LIMIT_MS);
      definitions.stop();
      registration.stop();
      systemObjectsController.stop();
      flowControl?.stop();
      flowSchemas.stop();
      for (const storage of table.storages()) storage.cache.close();
      const grace = new AbortController();
      // Real time: peers are outside of the cluster's (possibly virtual) time.
      const graceEnd = realClock.sleep(1000, grace.signal).catch(() => {});
      await Promise.all([listener?.close(graceEnd), podListener?.listener?.close(graceEnd)]);
      grace.abort();
      await audit?.backend.close();
      await tracing?.[Symbol.asyncDispose]();
      await encryption?.stop();
      await security?.stop();
      await optional[Symbol.asyncDispose]();
      eventLoop[Symbol.dispose]();
      heap[Symbol.dispose]();
    }
  });
  return {
    ...component,
    [Symbol.asyncDispose]: () => component[Symbol.asyncDispose](),
    handle,
    table,
    snapshots: () => snapshotsOf(table),
    aggregation,
    listen: open,
    listenForPods,
    useCertificate: (renewed) => {
      tls = renewed;
      listener?.useCertificate(renewed);
      podListener?.listener?.useCertificate(renewed);
    },
    get port() {
      return listener?.port;
    },
  };
}

function systemObjects(config: ApiServerConfig, listener: Listener | undefined, sharesStore: boolean): SystemObjectsOptions {
  const { clusterIpRanges } = config.services ?? DEFAULT_SERVICES;
  const { requestHeader } = config;
  const frontProxies = requestHeader?.authorities();
  const clientAuthorities = [config.listen?.tls.ca ?? []]
    .flat()
    .map(String)
    .filter((authority) => authority !== frontProxies);
  const advertise = { address: advertisedAddress(config), port: listener?.port ?? 6443 };
  return { serviceCidrs: clusterIpRanges, advertise, sharesStore, clientAuthorities, ...(requestHeader && { requestHeader }) };
}
