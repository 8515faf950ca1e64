import type { SecureContextOptions } from 'node:tls';
import { type Clock, type Component, type Logger, type MetricsRegistry, type Random, realClock, runComponent, whenAborted } from '#base';
import { Client } from '#client';
import type { Store } from '#store';
import type { AdmissionPlugin } from './admission/admission.ts';
import { admissionChain } from './admission/admission.ts';
import { orderedPlugins, type PluginName } from './admission/plugin-order.ts';
import type { TolerationDefaults } from './admission/plugins/default-toleration-seconds.ts';
import { builtInPlugins } from './admission/plugins.ts';
import type { Authenticator } from './authn/authenticator.ts';
import type { UserInfo } from './authn/user.ts';
import type { Authorizer } from './authz/authorizer.ts';
import { alwaysAllow } from './authz/privileged-groups.ts';
import { ApiServiceRegistration } from './crd/api-service-registration.ts';
import { DefinitionsController } from './crd/definitions-controller.ts';
import { FailureLog } from './failure-log.ts';
import { authenticate, authorize, chain } from './filters/chain.ts';
import { impersonate } from './filters/impersonation.ts';
import { nonResourceRouter } from './handlers/non-resource.ts';
import type { HandlerDeps } from './handlers/resource-call.ts';
import { resourceRouter } from './handlers/route.ts';
import { HealthChecks } from './health.ts';
import { type Listener, listen } from './http/listener.ts';
import { RequestsInFlight } from './http/requests-in-flight.ts';
import { type Serving, serveExchange } from './http/serve-exchange.ts';
import { Turns } from './http/turns.ts';
import { WatchFlushes } from './http/watch-flush.ts';
import { inProcessTransport } from './in-process.ts';
import { OpenApi, openapiHandler } from './openapi/index.ts';
import { processMetrics } from './process-metrics.ts';
import { DEFAULT_SERVICES, ServiceClaims, type ServicesConfig } from './registry/allocation/service-claims.ts';
import { BUILT_IN_STRATEGIES, CONVERSIONS } from './registry/built-in.ts';
import { type CachedObjects, snapshotsOf } from './registry/cached-objects.ts';
import { addBuiltInResources, type CatalogOptions } from './registry/catalog.ts';
import { FlowSchemaStatus } from './registry/flow-schema-status.ts';
import { objectCounts } from './registry/object-counts.ts';
import { RemoteApiServices } from './registry/remote-api-services.ts';
import { ResourceTable } from './registry/resource-table.ts';
import { ServerLeases } from './registry/server-leases.ts';
import { builtInHandlers, builtInSubresources } from './registry/subresources/built-in-subresources.ts';
import { type ComponentChecks, componentChecks } from './registry/subresources/component-statuses.ts';
import { ensureSystemObjects, type SystemObjectsOptions } from './registry/system-objects.ts';
import type { Handler } from './request/api-response.ts';
import { requestMetrics } from './request-metrics.ts';
import type { Security, SecurityContext } from './security.ts';
import { StartSteps } from './start-steps.ts';
import { HttpsKubeletConnector } from './streaming/https-kubelet-connector.ts';
import type { KubeletConnector } from './streaming/kubelet-connector.ts';

export interface ApiServerConfig {
  /** Absent: the server is reached in-process only. */
  readonly listen?: ListenConfig;
  readonly version: Readonly<Record<string, string>>;
  readonly anonymousAuth: boolean;
  /** Under which address others reach this server. Default: the one it listens on. */
  readonly advertiseAddress?: string;
  /** Makes what every cluster has from its start: namespaces, roles, the kubernetes service. Default true. */
  readonly systemObjects?: boolean;
  /** What services may have. Default: 10.96.0.0/16, ports 30000 to 32767. */
  readonly services?: ServicesConfig;
  readonly admission?: AdmissionConfig;
  /** How long a request may take, watches and their like aside. Default: a minute. */
  readonly requestTimeoutMs?: number;
  /** A watch whose client does not say lasts at least this long. Default: half an hour. */
  readonly minWatchTimeoutMs?: number;
  /** How long events are kept. Default: an hour. */
  readonly eventTtlSeconds?: number;
  /** How many requests one HTTP/2 connection may have open. Default: a thousand. */
  readonly maxStreamsPerConnection?: number;
  /** How long the server goes on after it has begun to say that it is not ready. Default: not at all. */
  readonly shutdownDelayMs?: number;
}

const REQUEST_TIMEOUT_MS = 60_000;
/** Requests that take longer are cut off when the server stops. */
const DRAIN_LIMIT_MS = 10_000;

export interface AdmissionConfig {
  /** Names of plugins that do not run. */
  readonly disabled?: readonly PluginName[];
  readonly tolerations?: TolerationDefaults;
}

export interface ListenConfig {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  readonly tls: SecureContextOptions;
}

export interface ApiServerDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricsRegistry;
  /** What the store holds, when a server that kept the same knows it already: then it is not read again. */
  readonly inherited?: CachedObjects;
  /** Default: every built-in kind. */
  readonly catalog?: CatalogOptions;
  /** Default: nobody is known, and only in-process callers are. */
  readonly authenticators?: readonly Authenticator[];
  /** Default: everybody may do everything. */
  readonly authorizer?: Authorizer;
  /** Default: every built-in plugin. */
  readonly admission?: readonly AdmissionPlugin[];
  /** The way to nodes, for logs and the like. Default: over the network, without showing who asks. */
  readonly kubelets?: KubeletConnector;
  /** What `componentstatuses` tells of. Default: where upstream looks for the other parts. */
  readonly components?: ComponentChecks;
  /** Instead of `authenticators` and `authorizer`: who may do what, by what the server itself keeps. */
  readonly security?: (context: SecurityContext) => Security;
}

/** Who the server is when it writes objects itself. */
const OWN_USER: UserInfo = { name: 'system:apiserver', groups: ['system:masters', 'system:authenticated'] };

function builtInCatalog(
  { store, kubelets = new HttpsKubeletConnector(), components = componentChecks(store) }: ApiServerDeps,
  { eventTtlSeconds }: ApiServerConfig,
): CatalogOptions {
  const subresources = builtInSubresources({ kubelets, components });
  const extras = builtInHandlers({ kubelets, components });
  return {
    strategies: BUILT_IN_STRATEGIES,
    conversions: CONVERSIONS,
    subresources,
    extras,
    ...(eventTtlSeconds && { ttlSeconds: eventTtlSeconds }),
  };
}

export interface ApiServer extends Component {
  /** The chain that every request passes, without a socket. */
  readonly handle: Handler;
  readonly table: ResourceTable;
  /** The objects it holds at this moment, for a server on a copy of its store. */
  snapshots(): CachedObjects['snapshots'];
  /** Begins to listen, for a server that was started without. Resolves to the port. */
  listen(where: ListenConfig): Promise<number>;
  /** Known once ready, when the server listens. */
  readonly port: number | undefined;
  /** Shows another certificate to connections from now on. */
  useCertificate(tls: SecureContextOptions): void;
}

export function startApiServer(config: ApiServerConfig, deps: ApiServerDeps, signal?: AbortSignal): ApiServer {
  const table = new ResourceTable();
  const security = deps.security?.({ ...deps, table, address: () => address(), handlers: () => handlers });
  const { authenticators = [], authorizer = alwaysAllow } = security ?? deps;
  const claims = new ServiceClaims(config.services ?? DEFAULT_SERVICES, { ...deps, table });
  addBuiltInResources(table, withSecurity(claims.extend(deps.catalog ?? builtInCatalog(deps, config)), security), deps);
  const health = new HealthChecks();
  let isStarted = false;
  let isStopping = false;
  const steps = new StartSteps();
  const storeAnswers = async () => (await deps.store.revision()) > 0;
  health.add(
    { name: 'etcd', check: storeAnswers },
    { name: 'etcd-readiness', readinessOnly: true, check: storeAnswers },
    { name: 'informer-sync', readinessOnly: true, check: () => isStarted },
    ...steps.checks,
    { name: 'shutdown', readinessOnly: true, check: () => !isStopping },
  );
  processMetrics(deps.metrics, realClock, config.version);
  const inFlight = new RequestsInFlight();
  const requests = requestMetrics(deps.metrics, inFlight);
  let listener: Listener | undefined;
  const address = () => `${config.listen?.host ?? '127.0.0.1'}:${listener?.port ?? 443}`;
  const plugins =
    deps.admission ?? builtInPlugins({ table, clock: deps.clock, random: deps.random, authorizer }, config.admission?.tolerations);
  const admission = admissionChain(orderedPlugins([...plugins, ...(security?.admission ?? [])], config.admission?.disabled));
  const { minWatchTimeoutMs } = config;
  const timing = { clock: deps.clock, random: deps.random, ...(minWatchTimeoutMs && { minWatchTimeoutMs }) };
  const handlers: HandlerDeps = { ...timing, admission, table, authorizer };
  const resources = resourceRouter(table, handlers);
  const openapi = new OpenApi(table, { serverVersion: config.version.gitVersion ?? '' });
  const others = nonResourceRouter({
    table,
    health,
    metrics: deps.metrics,
    beforeMetrics: objectCounts(deps.metrics, table),
    version: config.version,
    address,
    extra: [{ prefix: '/openapi', handler: openapiHandler(openapi, deps.clock) }, ...(security?.paths ?? [])],
  });
  const handle = chain(
    [authenticate({ authenticators, anonymous: config.anonymousAuth }), impersonate(authorizer), authorize(authorizer)],
    (request) => (request.info.isResource ? resources(request) : others(request)),
  );
  const own = inProcessTransport(handle, OWN_USER, { clock: deps.clock, random: deps.random, userAgent: 'kube-apiserver' });
  const client = new Client(own);
  const definitions = new DefinitionsController({ ...deps, table, client });
  const registration = new ApiServiceRegistration({ table, client, logger: deps.logger });
  const told = { table, client, clock: deps.clock, logger: deps.logger };
  const flowSchemas = new FlowSchemaStatus(told);
  const remoteServices = new RemoteApiServices(told);
  const serving: Serving = {
    handle,
    requests,
    inFlight,
    requestTimeoutMs: config.requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
    clock: deps.clock,
    random: deps.random,
    failures: new FailureLog(deps.logger, realClock),
    watchFlushes: new WatchFlushes(deps.metrics),
    turns: new Turns(),
  };
  const limits = {
    ...(config.requestTimeoutMs && { headersTimeoutMs: config.requestTimeoutMs }),
    ...(config.maxStreamsPerConnection && { maxConcurrentStreams: config.maxStreamsPerConnection }),
  };
  const open = async (where: ListenConfig) => {
    listener = await listen({ ...where, ...limits, handle: (exchange) => serveExchange(exchange, serving) });
    return listener.port;
  };
  const component = runComponent(signal, async ({ signal: stopping, ready }) => {
    let leases: ServerLeases | undefined;
    try {
      await security?.start();
      await definitions.start();
      steps.reach('definitions');
      await claims.repair();
      steps.reach('allocation');
      if (config.listen) await open(config.listen);
      const objects = systemObjects(config, listener, !deps.store.localReads);
      leases = objects.sharesStore ? new ServerLeases({ ...deps, client, advertise: objects.advertise }) : undefined;
      if (config.systemObjects !== false) {
        await ensureSystemObjects(objects, { ...deps, client });
        await registration.start();
      }
      await leases?.renew();
      await flowSchemas.start();
      await remoteServices.start();
      steps.reach('system objects');
      isStarted = true;
      ready();
      await Promise.all([whenAborted(stopping), claims.keepRepaired(stopping), leases?.run(stopping)]);
    } finally {
      // A start that fails leaves nothing open either.
      isStopping = true;
      if (isStarted) {
        await leases?.end();
        // Not even a moment when none is asked for: a cluster on virtual time would go on meanwhile, nobody knows how far.
        if (config.shutdownDelayMs) await realClock.sleep(config.shutdownDelayMs);
      }
      listener?.drain();
      await inFlight.drained(DRAIN_LIMIT_MS);
      definitions.stop();
      registration.stop();
      flowSchemas.stop();
      remoteServices.stop();
      for (const resource of table.all()) resource.storage?.cache.close();
      const grace = new AbortController();
      // Peers are elsewhere, where time goes on whatever the cluster's own clock does.
      await listener?.close(realClock.sleep(1000, grace.signal).catch(() => {}));
      grace.abort();
    }
  });
  return {
    ...component,
    [Symbol.asyncDispose]: () => component[Symbol.asyncDispose](),
    handle,
    table,
    snapshots: () => snapshotsOf(table),
    listen: open,
    useCertificate: (tls) => listener?.useCertificate(tls),
    get port() {
      return listener?.port;
    },
  };
}

function withSecurity(catalog: CatalogOptions, security: Security | undefined): CatalogOptions {
  if (security === undefined) return catalog;
  const extras = { ...catalog.extras };
  for (const [place, extra] of Object.entries(security.extras)) extras[place] = { ...extras[place], ...extra };
  const subresources = { ...catalog.subresources };
  for (const [place, own] of Object.entries(security.subresources)) subresources[place] = [...(subresources[place] ?? []), ...own];
  return { ...catalog, extras, subresources };
}

function systemObjects(config: ApiServerConfig, listener: Listener | undefined, sharesStore: boolean): SystemObjectsOptions {
  const address = config.advertiseAddress ?? config.listen?.host ?? '127.0.0.1';
  const { clusterIpRanges } = config.services ?? DEFAULT_SERVICES;
  const clientAuthorities = [config.listen?.tls.ca ?? []].flat().map(String);
  return { serviceCidrs: clusterIpRanges, advertise: { address, port: listener?.port ?? 6443 }, sharesStore, clientAuthorities };
}
