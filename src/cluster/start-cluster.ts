import {
  type ApiServer,
  type CachedObjects,
  createSecurity,
  HttpsKubeletConnector,
  inProcessTransport,
  LocalKubelets,
  startApiServer,
  type UserInfo,
} from '#apiserver';
import {
  type Clock,
  type Component,
  type Logger,
  MetricsRegistry,
  newPrivateKey,
  privateKeyPem,
  type Random,
  raceAbort,
  runComponent,
  stopAll,
  whenAborted,
} from '#base';
import { Client } from '#client';
import { type ControllerManagerConfig, startControllerManager } from '#controllers';
import type { KubeletConfig, MachineFailure } from '#kubelet';
import { type SchedulerConfig, settingsOfItsOwnProcess, startScheduler } from '#scheduler';
import type { Store } from '#store';
import { type ApiServerSettings, apiServerConfig, securityConfig } from './api-server-settings.ts';
import { controllerAccount, MANAGERS_OWN } from './controller-accounts.ts';
import { PartHealth } from './part-health.ts';
import type { ClusterCertificates, ClusterPki } from './pki.ts';
import { type SimulatedNodes, startSimulatedNodes } from './simulated-nodes.ts';

export interface ClusterConfig {
  /** Absent: the cluster is reached in-process only. */
  readonly listen?: { readonly host: string; readonly port: number };
  /** Needed by a cluster that listens. */
  readonly pki?: ClusterPki;
  readonly apiServer?: ApiServerSettings;
  readonly controllerManager?: ControllerManagerConfig;
  readonly scheduler?: SchedulerConfig;
  /** Settings that all nodes share. */
  readonly kubelet?: Partial<KubeletConfig>;
  /** Names of the simulated nodes that run in the process. Default: none. */
  readonly nodes?: readonly string[];
}

export interface ClusterDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics?: MetricsRegistry;
  /** When the store is a copy of another cluster's: what that one had at the moment of the copy, and the revision of both. */
  readonly inherited?: Inheritance & { readonly revision: number };
  /** Told of each part as it starts, to show progress. */
  readonly onStep?: (step: string) => void;
}

/** What a cluster leaves to one that begins with a copy of its store: all that is there counts as made, and what was decoded stays so. */
export interface Inheritance {
  readonly snapshots: CachedObjects['snapshots'];
  /** The tokens of the one are good for the other. */
  readonly serviceAccountKey: ClusterPki['serviceAccountKey'];
  /** Nodes that are down or cut off in the one are so in the other. */
  readonly nodeFailures: ReadonlyMap<string, MachineFailure>;
}

export interface Cluster extends Component {
  readonly apiServer: ApiServer;
  /** With all rights. */
  readonly client: Client;
  /** Its simulated nodes. Known once ready. */
  readonly nodes: SimulatedNodes;
  /** Shows renewed certificates to whoever connects from now on. */
  useCertificates(pki: ClusterCertificates): void;
  /** With the rights of this user. */
  clientAs(user: UserInfo, userAgent?: string): Client;
  /** For a cluster on a copy of the store that is made at this very moment. */
  inheritance(): Inheritance;
}

const ADMIN: UserInfo = { name: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] };

/** A whole cluster in this process. Its parts meet only through the API, each with its own identity. */
export function startCluster(config: ClusterConfig, deps: ClusterDeps, signal?: AbortSignal): Cluster {
  const metrics = deps.metrics ?? new MetricsRegistry();
  const parts: Component[] = [];
  let nodes: SimulatedNodes | undefined;
  const { pki } = config;
  const remote = new HttpsKubeletConnector(pki && kubeletCredentials(pki));
  const kubelets = new LocalKubelets(remote);
  const { apiServer: settings = {} } = config;
  const serviceAccountKey = pki?.serviceAccountKey ?? deps.inherited?.serviceAccountKey ?? temporaryKey();
  const security = securityConfig(settings, serviceAccountKey);
  const health = new PartHealth();
  const isCopy = deps.inherited !== undefined;
  // What a copy does not have, its origin did without.
  const serverConfig = { ...apiServerConfig(settings, listenConfig(config)), systemObjects: !isCopy };
  const apiServer = startApiServer(serverConfig, {
    ...deps,
    ...loggerOf('apiserver', deps),
    metrics,
    kubelets,
    components: health.checks(deps.store),
    security: (context) => createSecurity(security, context),
  });
  const clientAs = (user: UserInfo, userAgent = 'sampan') =>
    new Client(inProcessTransport(apiServer.handle, user, { clock: deps.clock, random: deps.random, userAgent }));
  const component = runComponent(signal, async ({ signal: stopping, ready }) => {
    parts.push(apiServer);
    try {
      deps.onStep?.('API server');
      await raceAbort(apiServer.ready, stopping);
      const { port } = apiServer;
      loggerOf('apiserver', deps).logger.info('is ready', port === undefined ? {} : { port });
      const starting: Starting = { config, deps: { ...deps, metrics }, clientAs, parts, stopping };
      if (!isCopy) await startManagers(starting, health);
      nodes = await startNodes(starting, kubelets);
      ready();
      // In a copy there is all that they would make: nobody has to wait for them.
      if (isCopy) await nextTurn().then(() => startManagers(starting, health));
      await Promise.race([whenAborted(stopping), ...parts.map((part) => part.done)]);
    } finally {
      await stopAll(parts);
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
    inheritance: () => ({ snapshots: apiServer.snapshots(), serviceAccountKey, nodeFailures: failuresOf(nodes) }),
    useCertificates(renewed) {
      apiServer.useCertificate({ ...settings.tls, ...servingTls(renewed) });
      remote.useCertificate(kubeletCredentials(renewed));
    },
    get nodes() {
      if (nodes === undefined) throw new Error('the cluster is not ready yet');
      return nodes;
    },
  };
}

/** Lets everything that is ready run first. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** By this name `sampan logs` finds what a part wrote. */
function loggerOf(component: string, { logger }: ClusterDeps): { readonly logger: Logger } {
  return { logger: logger.child({ component }) };
}

function listenConfig({ listen, pki }: ClusterConfig) {
  if (listen === undefined) return undefined;
  if (pki === undefined) throw new Error('a cluster that listens needs certificates');
  return { ...listen, tls: servingTls(pki) };
}

function servingTls({ serving, authority }: ClusterCertificates) {
  return { cert: serving.certificate, key: serving.key, ca: authority.certificate };
}

function kubeletCredentials({ clients: { kubeletClient } }: ClusterCertificates) {
  return { clientCertificate: kubeletClient.certificate, clientKey: kubeletClient.key };
}

/** For a cluster that nobody outside of the process sees, whose tokens end with it. Most have none, and need no key. */
function temporaryKey(): () => Promise<string> {
  let key: string | undefined;
  return async () => {
    key ??= privateKeyPem(newPrivateKey());
    return key;
  };
}

interface Starting {
  readonly config: ClusterConfig;
  readonly deps: ClusterDeps & { readonly metrics: MetricsRegistry };
  readonly clientAs: Cluster['clientAs'];
  /** What runs so far. */
  readonly parts: Component[];
  readonly stopping: AbortSignal;
}

async function startManagers(starting: Starting, health: PartHealth): Promise<void> {
  const { deps, parts, stopping } = starting;
  deps.onStep?.('controllers, scheduler');
  const [manager, scheduler] = [startControllers(starting), startSchedulerIn(starting)];
  health.add('controller-manager', manager);
  health.add('scheduler', scheduler);
  parts.push(manager, scheduler);
  await raceAbort(Promise.all([manager.ready, scheduler.ready]), stopping);
  for (const part of ['controller-manager', 'scheduler']) loggerOf(part, deps).logger.info('is ready');
}

async function startNodes({ config, deps, clientAs, parts, stopping }: Starting, kubelets: LocalKubelets): Promise<SimulatedNodes> {
  deps.onStep?.('nodes');
  const { inherited } = deps;
  const before = { areContinued: inherited !== undefined, failures: inherited?.nodeFailures ?? new Map() };
  const inCommon = { names: config.nodes ?? [], kubelet: config.kubelet ?? {}, ...before };
  const logger = loggerOf('kubelet', deps);
  const nodes = startSimulatedNodes(inCommon, { ...deps, ...logger, clientAs, administrator: clientAs(ADMIN), kubelets });
  parts.push(nodes);
  await raceAbort(nodes.ready, stopping);
  logger.logger.info('nodes run', { count: nodes.kubelets.size });
  return nodes;
}

const SCHEDULER: UserInfo = { name: 'system:kube-scheduler', groups: ['system:authenticated'] };

function startSchedulerIn({ config, deps, clientAs }: Starting): Component {
  for (const setting of settingsOfItsOwnProcess(config.scheduler?.configuration))
    deps.logger.warn('a setting of the scheduler has no effect where all runs in one process', { setting });
  return startScheduler(config.scheduler ?? {}, { ...deps, ...loggerOf('scheduler', deps), client: clientAs(SCHEDULER, 'kube-scheduler') });
}

function startControllers({ config, deps, clientAs }: Starting): Component {
  const { pki, controllerManager = {} } = config;
  const options = {
    // One server: everybody learns of a deletion at once.
    namespaceDeletionGracePeriodMs: 0,
    clusterCidrs: ['10.244.0.0/16'],
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

/** Each controller has the rights of a service account of its own; tokens of accounts are the manager's own business. */
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
