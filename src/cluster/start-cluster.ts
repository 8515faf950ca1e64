import path from 'node:path';
import {
  type ApiServer,
  type CachedObjects,
  createSecurity,
  DEFAULT_SERVICES,
  HttpsKubeletConnector,
  inProcessTransport,
  LocalKubelets,
  readEgressSelector,
  startApiServer,
  type UserInfo,
} from '#apiserver';
import {
  type Clock,
  type Component,
  formatIp,
  type Logger,
  MetricsRegistry,
  newPrivateKey,
  parseCidr,
  privateKeyPem,
  pushAll,
  type Random,
  raceAbort,
  runComponent,
  stopAll,
  waitForAbort,
} from '#base';
import { Client } from '#client';
import { type ControllerManagerConfig, startControllerManager } from '#controllers';
import type { KubeletConfig, MachineFailure } from '#kubelet';
import { type SchedulerConfig, standaloneSettings, startScheduler } from '#scheduler';
import type { Store } from '#store';
import { type ApiServerSettings, apiServerConfig, securityConfig, warnOfOverriddenSettings } from './config/api-server-settings.ts';
import { controllerAccount, MANAGERS_OWN } from './controller-accounts.ts';
import { type LocalStorageConfig, startLocalStorage } from './local-storage.ts';
import type { NetworkSettings } from './nodes/machine-network.ts';
import type { MachineNodeDeps, MachineNodeSettings } from './nodes/machine-node.ts';
import type { NodeSpecification } from './nodes/node-specification.ts';
import { type SimulatedNodes, startSimulatedNodes } from './nodes/simulated-nodes.ts';
import { type ClusterCertificates, type ClusterPki, FRONT_PROXY_CLIENT } from './pki/pki.ts';
import { ComponentHealth } from './supervision/component-health.ts';
import { supervise } from './supervision/supervise.ts';

export interface ClusterConfig {
  /** Absent: in-process only. */
  readonly listen?: { readonly host: string; readonly port: number };
  /** Required when it listens. */
  readonly pki?: ClusterPki;
  readonly apiServer?: ApiServerSettings;
  readonly controllerManager?: ControllerManagerConfig;
  readonly scheduler?: SchedulerConfig;
  /** Settings of all nodes. */
  readonly kubelet?: Partial<KubeletConfig>;
  /** The nodes to start. Default: none. */
  readonly nodes?: readonly NodeSpecification[];
  /** The network of the machine node. */
  readonly network?: NetworkSettings;
  /** The storage class `standard` and its provisioner. Absent: none. */
  readonly localStorage?: LocalStorageConfig;
}

export interface ClusterDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics?: MetricsRegistry;
  /** For a copy of another cluster's store: the original's state at that revision. */
  readonly inherited?: Inheritance & { readonly revision: number };
  /** Called for each component as it starts, for progress output. */
  readonly onStep?: (step: string) => void;
}

/** State that a forked cluster takes over, so that nothing is created or decoded again. */
export interface Inheritance {
  readonly snapshots: CachedObjects['snapshots'];
  /** Tokens of the original stay valid. */
  readonly serviceAccountKey: ClusterPki['serviceAccountKey'];
  /** Failed and partitioned nodes of the original. */
  readonly nodeFailures: ReadonlyMap<string, MachineFailure>;
}

export interface Cluster extends Component {
  readonly apiServer: ApiServer;
  /** With all rights. */
  readonly client: Client;
  /** The simulated nodes; available once ready. */
  readonly nodes: SimulatedNodes;
  /** The API server's in-process connection to kubelets. */
  readonly kubelets: LocalKubelets;
  /** Uses renewed certificates for new connections. */
  useCertificates(pki: ClusterCertificates): void;
  /** With the rights of this user. */
  clientAs(user: UserInfo, userAgent?: string): Client;
  /** The inheritance for a fork of the store at this moment. */
  inheritance(): Inheritance;
}

const ADMIN: UserInfo = { name: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] };

/** A whole cluster in this process. Its components communicate only through the API, each with its own identity. */
export function startCluster(config: ClusterConfig, deps: ClusterDeps, signal?: AbortSignal): Cluster {
  const metrics = deps.metrics ?? new MetricsRegistry();
  const parts: Component[] = [];
  let nodes: SimulatedNodes | undefined;
  const { pki } = config;
  const { egressConfig } = config.apiServer ?? {};
  const egress = egressConfig === undefined ? undefined : readEgressSelector(egressConfig, { ...deps, metrics });
  const remote = new HttpsKubeletConnector({ ...(pki && kubeletCredentials(pki)), dial: egress?.cluster });
  const kubelets = new LocalKubelets(remote);
  let certificates: ClusterCertificates | undefined = pki;
  const settings = pki === undefined ? (config.apiServer ?? {}) : frontProxySettings(config.apiServer ?? {}, () => certificates ?? pki);
  warnOfOverriddenSettings(settings, deps.logger);
  const serviceAccountKey = pki?.serviceAccountKey ?? deps.inherited?.serviceAccountKey ?? temporaryKey();
  const security = securityConfig(settings, serviceAccountKey, () => certificates?.authority.certificate ?? '');
  const health = new ComponentHealth();
  const isCopy = deps.inherited !== undefined;
  // A fork inherits what its origin has, and creates nothing.
  const serverConfig = { ...apiServerConfig(settings, listenConfig(config, settings)), systemObjects: !isCopy };
  const apiServer = startApiServer(serverConfig, {
    ...deps,
    ...loggerOf('apiserver', deps),
    metrics,
    kubelets,
    egress,
    components: health.checks(deps.store),
    security: (context) => createSecurity(security, context),
  });
  const clientAs = (user: UserInfo, userAgent = 'sampan') =>
    new Client(inProcessTransport(apiServer.handle, user, { clock: deps.clock, userAgent }));
  const component = runComponent(signal, async ({ signal: stopping, ready }) => {
    parts.push(apiServer);
    try {
      deps.onStep?.('API server');
      await raceAbort(apiServer.ready, stopping);
      const { port } = apiServer;
      loggerOf('apiserver', deps).logger.info('is ready', port === undefined ? {} : { port });
      const current = pki && (() => certificates ?? pki);
      const starting: StartContext = { config, deps: { ...deps, metrics }, apiServer, clientAs, certificates: current, parts, stopping };
      if (!isCopy) await startManagers(starting, health);
      nodes = await startNodes(starting, kubelets);
      await startStorage(starting, nodes);
      ready();
      // A fork has everything that the controllers would create: its start does not wait for them.
      if (isCopy) await nextTurn().then(() => startManagers(starting, health));
      // The cluster ends with its API server; all other components are supervised.
      await Promise.race([waitForAbort(stopping), apiServer.done]);
    } finally {
      await stopAll(parts);
      remote[Symbol.dispose]();
      deps.logger.info('the cluster has stopped');
    }
  });
  return {
    ready: component.ready,
    done: component.done,
    [Symbol.asyncDispose]: () => component[Symbol.asyncDispose](),
    apiServer,
    client: clientAs(ADMIN),
    clientAs,
    kubelets,
    inheritance: () => ({ snapshots: apiServer.snapshots(), serviceAccountKey, nodeFailures: failuresOf(nodes) }),
    useCertificates(renewed) {
      certificates = renewed;
      apiServer.useCertificate({ ...settings.tls, ...servingTls(renewed, settings) });
      apiServer.aggregation.useProxyClient(renewed.frontProxy.client);
      remote.useCertificate(kubeletCredentials(renewed));
    },
    get nodes() {
      if (nodes === undefined) throw new Error('the cluster is not ready yet');
      return nodes;
    },
  };
}

/** Yields to everything that is ready to run. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** The name by which `sampan logs` filters. */
function loggerOf(component: string, { logger }: ClusterDeps): { readonly logger: Logger } {
  return { logger: logger.child({ component }) };
}

function listenConfig({ listen, pki }: ClusterConfig, settings: ApiServerSettings) {
  if (listen === undefined) return undefined;
  if (pki === undefined) throw new Error('a cluster that listens needs certificates');
  return { ...listen, tls: servingTls(pki, settings) };
}

/** Clients and front proxies have separate CAs. */
function servingTls({ serving, authority }: ClusterCertificates, { requestHeader }: ApiServerSettings) {
  const frontProxies = requestHeader?.authorities?.() ?? [];
  return { cert: serving.certificate, key: serving.key, ca: [authority.certificate, frontProxies].flat() };
}

/** By default front proxies use the usual X-Remote headers, as with kubeadm. */
function frontProxySettings(settings: ApiServerSettings, certificates: () => ClusterCertificates): ApiServerSettings {
  return {
    ...settings,
    requestHeader: {
      authorities: () => certificates().frontProxy.authority.certificate,
      allowedNames: [FRONT_PROXY_CLIENT],
      usernameHeaders: ['X-Remote-User'],
      uidHeaders: ['X-Remote-Uid'],
      groupHeaders: ['X-Remote-Group'],
      extraHeaderPrefixes: ['X-Remote-Extra-'],
      ...settings.requestHeader,
    },
    aggregation: { proxyClient: certificates().frontProxy.client, ...settings.aggregation },
  };
}

function kubeletCredentials({ clients: { kubeletClient } }: ClusterCertificates) {
  // As kubeadm: host names are often not resolvable.
  const preferredAddressTypes = ['InternalIP', 'ExternalIP', 'Hostname'];
  return { clientCertificate: kubeletClient.certificate, clientKey: kubeletClient.key, preferredAddressTypes };
}

/** For in-process clusters, whose tokens end with them. Generated lazily, since most need none. */
function temporaryKey(): () => Promise<string> {
  let key: string | undefined;
  return async () => {
    key ??= privateKeyPem(newPrivateKey());
    return key;
  };
}

interface StartContext {
  readonly config: ClusterConfig;
  readonly deps: ClusterDeps & { readonly metrics: MetricsRegistry };
  readonly apiServer: ApiServer;
  readonly clientAs: Cluster['clientAs'];
  /** The current ones; absent: the cluster is in this process alone. */
  readonly certificates: (() => ClusterCertificates) | undefined;
  /** The components started so far. */
  readonly parts: Component[];
  readonly stopping: AbortSignal;
}

async function startManagers(starting: StartContext, health: ComponentHealth): Promise<void> {
  const { deps, parts, stopping } = starting;
  deps.onStep?.('controllers, scheduler');
  warnOfUnusedSettings(starting);
  const supervised = (name: 'controller-manager' | 'scheduler', start: () => Component) =>
    supervise({ name, start, onState: (state, failure) => health.report(name, state, failure) }, { ...deps, ...loggerOf(name, deps) });
  const manager = supervised('controller-manager', () => startControllers(starting));
  const scheduler = supervised('scheduler', () => startSchedulerIn(starting));
  parts.push(manager, scheduler);
  await raceAbort(Promise.all([manager.ready, scheduler.ready]), stopping);
  for (const part of ['controller-manager', 'scheduler']) loggerOf(part, deps).logger.info('is ready');
}

async function startNodes(
  { config, deps, clientAs, apiServer, certificates, parts, stopping }: StartContext,
  kubelets: LocalKubelets,
): Promise<SimulatedNodes> {
  deps.onStep?.('nodes');
  const { inherited } = deps;
  const before = { areContinued: inherited !== undefined, failures: inherited?.nodeFailures ?? new Map() };
  const { nodes: specifications = [], kubelet = {} } = config;
  const names = specifications.filter(({ type }) => type === 'simulated').map(({ name }) => name);
  const own = { ...deps, ...loggerOf('kubelet', deps), clientAs, administrator: clientAs(ADMIN), kubelets };
  const nodes = startSimulatedNodes({ names, kubelet, ...before }, own);
  parts.push(nodes);
  const settings = { kubelet, ...(config.network && { network: config.network }) };
  const machineDeps = {
    ...own,
    clusterCidrs: clusterCidrsOf(config),
    dnsServiceIp: dnsServiceIp((config.apiServer?.services ?? DEFAULT_SERVICES).clusterIpRanges[0]!),
    listenForPods: (address: string) => apiServer.listenForPods(address),
    certificates,
  };
  const machines = await startMachines(specifications, settings, machineDeps);
  pushAll(parts, machines);
  await raceAbort(Promise.all([nodes, ...machines].map((part) => part.ready)), stopping);
  own.logger.info('nodes are ready', { count: specifications.length });
  return nodes;
}

/** The code of machine nodes is loaded only where there is one. */
async function startMachines(
  specifications: readonly NodeSpecification[],
  settings: MachineNodeSettings,
  deps: MachineNodeDeps,
): Promise<readonly Component[]> {
  const machines = specifications.filter((node) => node.type === 'machine');
  if (machines.length === 0) return [];
  const { startMachineNode } = await import('./nodes/machine-node.ts');
  return machines.map((node) => startMachineNode(node, settings, deps));
}

const DEFAULT_CLUSTER_CIDRS = ['10.244.0.0/16'];

/** By convention the tenth address of the service range. */
function dnsServiceIp(cidr: string): string {
  const { family, base } = parseCidr(cidr)!;
  return formatIp({ family, value: base + 10n });
}

function clusterCidrsOf({ controllerManager }: ClusterConfig): readonly string[] {
  return controllerManager?.options?.clusterCidrs ?? DEFAULT_CLUSTER_CIDRS;
}

/** The volume directories of machine nodes. */
function volumeDirectories({ nodes = [] }: ClusterConfig): ReadonlyMap<string, string> {
  return new Map(nodes.flatMap((node) => (node.type === 'machine' ? [[node.name, path.join(node.directory, 'local-volumes')]] : [])));
}

async function startStorage({ config, deps, clientAs, parts, stopping }: StartContext, nodes: SimulatedNodes): Promise<void> {
  if (config.localStorage === undefined) return;
  const logger = loggerOf('local-storage', deps);
  const simulatedNodes = () => nodes.kubelets.keys();
  const localStorage = { directories: volumeDirectories(config), ...config.localStorage };
  const own = { ...deps, ...logger, clientAs, administrator: clientAs(ADMIN), simulatedNodes };
  const part = supervise({ name: 'local-storage', start: () => startLocalStorage(localStorage, own) }, own);
  parts.push(part);
  await raceAbort(part.ready, stopping);
}

const SCHEDULER: UserInfo = { name: 'system:kube-scheduler', groups: ['system:authenticated'] };

function warnOfUnusedSettings({ config, deps }: StartContext): void {
  for (const setting of standaloneSettings(config.scheduler?.configuration))
    deps.logger.warn('a scheduler setting has no effect in a single process', { setting });
}

function startSchedulerIn({ config, deps, clientAs }: StartContext): Component {
  return startScheduler(config.scheduler ?? {}, { ...deps, ...loggerOf('scheduler', deps), client: clientAs(SCHEDULER, 'kube-scheduler') });
}

function startControllers({ config, deps, clientAs }: StartContext): Component {
  const { pki, controllerManager = {} } = config;
  const options = {
    // With one server deletions are observed at once.
    namespaceDeletionGracePeriodMs: 0,
    clusterCidrs: DEFAULT_CLUSTER_CIDRS,
    ...(pki && {
      rootCa: pki.authority.certificate,
      serviceAccountPrivateKey: pki.serviceAccountKey,
      clusterSigning: { authority: pki.authority },
    }),
    ...controllerManager.options,
  };
  const client = clientAs(MANAGER, 'kube-controller-manager');
  const clientFor = (controller: string) => clientAs(controllerUser(controller), 'kube-controller-manager');
  const logger = loggerOf('controller-manager', deps);
  return startControllerManager({ ...controllerManager, options }, { ...deps, ...logger, client, clientFor });
}

const MANAGER: UserInfo = { name: 'system:kube-controller-manager', groups: ['system:authenticated'] };

/** Each controller has its own service account, except for the token controller. */
function controllerUser(controller: string): UserInfo {
  if (controller === MANAGERS_OWN) return MANAGER;
  const groups = ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'];
  return { name: `system:serviceaccount:kube-system:${controllerAccount(controller)}`, groups };
}

function failuresOf(nodes: SimulatedNodes | undefined): ReadonlyMap<string, MachineFailure> {
  const failures = new Map<string, MachineFailure>();
  for (const [name, { failure }] of nodes?.kubelets ?? []) if (failure) failures.set(name, failure);
  return failures;
}
