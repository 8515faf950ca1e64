import net from 'node:net';
import { hostname } from 'node:os';
import { DEFAULT_SERVICES, kubernetesServiceIp } from '#apiserver';
import type { Clock, Logger, MetricsRegistry, Random } from '#base';
import { isSameProcess, processIdentity } from '#base';
import { formatTime } from '#machinery';
import type { Store } from '#store';
import type { ApiServerSettings } from './config/api-server-settings.ts';
import { type AdminAccess, mergeKubeconfig, parsedKubeconfig, readIfExists, renderKubeconfig } from './config/kubeconfig-file.ts';
import { DataDirectory } from './data/data-directory.ts';
import { secretsEncryption, throwIfKeyIsLost } from './data/encryption-file.ts';
import { openStore, type StoreChoice } from './data/open-store.ts';
import type { NodeRuntime } from './nodes/choose-runtime.ts';
import { machineAddresses } from './nodes/machine-addresses.ts';
import type { ClusterPki, PkiOptions } from './pki/pki.ts';
import { loadPki } from './pki/pki-files.ts';
import { renewCertificates } from './pki/renew-certificates.ts';
import { type Cluster, type ClusterConfig, startCluster } from './start-cluster.ts';
import { waitForReady } from './wait-for-ready.ts';

export interface LocalClusterOptions {
  readonly name: string;
  readonly dataDirectory: string;
  readonly host: string;
  /** Default: 6443, or a free port if that is taken. */
  readonly port?: number;
  readonly store: StoreChoice;
  /** Creates an encryption key for secrets in the directory. An existing key is always used. */
  readonly encryptSecrets?: boolean;
  /** The user's kubeconfig, into which the cluster's context is merged; absent: not changed. */
  readonly kubeconfig?: string;
  readonly cluster?: Omit<ClusterConfig, 'listen' | 'pki'>;
  /** The container runtime of the machine's node. */
  readonly runtime?: NodeRuntime;
  /** How long to wait for nodes to be Ready and for the default service account; 0: do not wait. Default: a minute. */
  readonly waitMs?: number;
}

export interface LocalClusterDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Default: a registry of its own. */
  readonly metrics?: MetricsRegistry;
  readonly onStep?: (step: string) => void;
}

export interface LocalCluster extends AsyncDisposable {
  readonly cluster: Cluster;
  readonly server: string;
  readonly kubeconfig: string;
  readonly dataDirectory: string;
}

/** The state file of a running cluster, by which other commands find it. */
export interface ClusterState {
  readonly name: string;
  readonly pid: number;
  /** Distinguishes the process from a later one with the same pid. */
  readonly process?: string;
  readonly server: string;
  readonly startedAt: string;
  /** The kubeconfig that the cluster's context was merged into. */
  readonly kubeconfig?: string;
  /** The container runtime of its own node. Absent in files of older versions. */
  readonly runtime?: { readonly description: string /** Absent: simulated. */; readonly endpoint?: string };
}

const DEFAULT_PORT = 6443;

/** Opens a cluster that persists in a directory and serves TLS. A failed start leaves nothing running. */
export async function openLocalCluster(options: LocalClusterOptions, deps: LocalClusterDeps, signal?: AbortSignal): Promise<LocalCluster> {
  const { host } = options;
  const directory = new DataDirectory(options.dataDirectory);
  await directory.create();
  await checkKubeconfig(options.kubeconfig);
  const port = await choosePort(options, directory);
  deps.onStep?.('certificates, store');
  const { pki, store } = await openBoth(options, directory, deps);
  let cluster: Cluster | undefined;
  try {
    const [hostAddress] = machineAddresses();
    const apiServer = {
      hostname: hostname(),
      ...(hostAddress && { hostAddress }),
      ...(await encryptedSettings(options, directory, store)),
    };
    cluster = startCluster({ ...options.cluster, apiServer, listen: { host, port }, pki }, { ...deps, store }, signal);
    await waitForReady(cluster, { ...options.cluster, ...(options.waitMs !== undefined && { waitMs: options.waitMs }) }, deps);
    const server = `https://${host.includes(':') ? `[${host}]` : host}:${cluster.apiServer.port}`;
    await publish({ options, directory, pki, server, deps });
    return running({ cluster, store, directory, options, deps, pki, server });
  } catch (error) {
    await cluster?.[Symbol.asyncDispose]().catch(() => {});
    await store.close();
    throw error;
  }
}

/** An explicit configuration takes precedence over the directory's. */
async function encryptedSettings(
  { cluster, encryptSecrets = false }: LocalClusterOptions,
  directory: DataDirectory,
  store: Store,
): Promise<ApiServerSettings> {
  const settings = cluster?.apiServer ?? {};
  if (settings.encryption !== undefined) {
    if (!encryptSecrets) return settings;
    throw new Error('--encrypt-secrets and --encryption-provider-config exclude each other; give one of them');
  }
  const encryption = await secretsEncryption(directory, encryptSecrets);
  if (encryption !== undefined) return { ...settings, encryption };
  await throwIfKeyIsLost(directory, store);
  return settings;
}

/** In parallel: both mostly wait for the disk. */
async function openBoth(
  options: LocalClusterOptions,
  directory: DataDirectory,
  deps: LocalClusterDeps,
): Promise<{ pki: ClusterPki; store: Store }> {
  const opening = openStore(options.store, { ...deps, directory: directory.store });
  try {
    const [pki, store] = await Promise.all([loadPki(directory, { ...pkiNames(options, deps), now: deps.clock.now() }), opening]);
    return { pki, store };
  } catch (error) {
    await opening.then((store) => store.close()).catch(() => {});
    throw error;
  }
}

/** Pods reach the server at the address of the service `kubernetes`. */
function pkiNames({ host, cluster }: LocalClusterOptions, { random }: LocalClusterDeps): Omit<PkiOptions, 'now'> {
  const own = ['127.0.0.1', kubernetesServiceIp((cluster?.apiServer?.services ?? DEFAULT_SERVICES).clusterIpRanges[0]!)];
  const names = net.isIP(host) ? { ipAddresses: [host, ...own] } : { ipAddresses: own, dnsNames: [host] };
  return { names, random };
}

interface RunningParts extends PublishOptions {
  readonly cluster: Cluster;
  readonly store: Store;
}

function running(started: RunningParts): LocalCluster {
  const { cluster, store, directory, server, options, deps } = started;
  const stopping = new AbortController();
  const keySaved = makeKey(started);
  const renewing = renewCertificates(
    { current: started.pki, directory, options: pkiNames(options, deps), use: (pki) => useRenewed(started, pki) },
    deps,
    stopping.signal,
  );
  return {
    cluster,
    server,
    kubeconfig: directory.kubeconfig,
    dataDirectory: directory.root,
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await Promise.all([renewing, keySaved]);
      await cluster[Symbol.asyncDispose]();
      await store.close();
      await noteStopped(started);
    },
  };
}

/** A data directory that was deleted while the cluster ran is not created again. */
async function noteStopped({ options: { name, kubeconfig }, directory, server }: RunningParts): Promise<void> {
  if ((await directory.read(directory.state)) === undefined) return;
  await directory.write(directory.state, JSON.stringify({ name, server, ...(kubeconfig && { kubeconfig }), stopped: true }));
}

/** Created once the cluster runs, so that the first token does not wait for it. */
async function makeKey({ pki: { serviceAccountKey }, deps }: RunningParts): Promise<void> {
  try {
    if (typeof serviceAccountKey === 'function') await serviceAccountKey();
  } catch (error) {
    deps.logger.error('the service account signing key could not be stored; it is generated again when needed', { error });
  }
}

/** The requested port, the previous one, the default, or any free one. */
async function choosePort({ host, port }: LocalClusterOptions, directory: DataDirectory): Promise<number> {
  if (port !== undefined) {
    await checkPortIsFree(host, port);
    return port;
  }
  const before = Number(new URL((await readState(directory))?.server ?? `https://x:${DEFAULT_PORT}`).port);
  for (const candidate of [before, DEFAULT_PORT]) if (await isFree(host, candidate)) return candidate;
  return 0;
}

export async function readState(directory: DataDirectory): Promise<ClusterState | undefined> {
  const text = await directory.read(directory.state);
  try {
    return text === undefined ? undefined : (JSON.parse(text) as ClusterState);
  } catch {
    return undefined;
  }
}

/** The state of the running cluster in the directory; undefined if none runs, even if a stale file exists. */
export async function readRunning(directory: DataDirectory): Promise<ClusterState | undefined> {
  const state = await readState(directory);
  return state?.pid !== undefined && isSameProcess(state.pid, state.process) ? state : undefined;
}

async function isFree(host: string, port: number): Promise<boolean> {
  const code = await listenErrorOf(host, port);
  if (code !== undefined && code !== 'EADDRINUSE' && code !== 'EACCES') throw cannotListen(host, code);
  return code === undefined;
}

async function checkPortIsFree(host: string, port: number): Promise<void> {
  const code = await listenErrorOf(host, port);
  if (code === 'EADDRINUSE')
    throw new Error(`port ${port} on ${host} is in use; choose another with --port, or leave it out to get a free one`);
  if (code === 'EACCES') throw new Error(`port ${port} may not be used by this user; choose one above 1023 with --port`);
  if (code !== undefined) throw cannotListen(host, code);
}

function cannotListen(host: string, code: string): Error {
  return new Error(`cannot listen on ${host} (${code}); give an address of this machine with --host`);
}

/** The error of listening there; undefined if it works. */
function listenErrorOf(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    // errors: it never accepts a connection
    const probe = net.createServer();
    probe.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'unknown'));
    probe.listen(port, host, () => probe.close(() => resolve(undefined)));
  });
}

interface PublishOptions {
  readonly options: LocalClusterOptions;
  readonly directory: DataDirectory;
  readonly pki: ClusterPki;
  readonly server: string;
  readonly deps: LocalClusterDeps;
}

/** Publishes the cluster: its kubeconfig, the user's kubeconfig, and the state file. */
async function publish(publishing: PublishOptions): Promise<void> {
  const { options, directory, server, deps } = publishing;
  await writeAccess(publishing, 'make current');
  const { name, kubeconfig } = options;
  const { pid } = process;
  const identity = processIdentity(pid);
  const startedAt = formatTime(deps.clock.now());
  const state: ClusterState = {
    ...{ name, pid, server, startedAt },
    ...(identity && { process: identity }),
    ...(kubeconfig && { kubeconfig }),
    ...(options.runtime && { runtime: runtimeState(options.runtime) }),
  };
  await directory.write(directory.state, JSON.stringify(state));
}

async function useRenewed(started: RunningParts, pki: ClusterPki): Promise<void> {
  started.cluster.useCertificates(pki);
  // The current context is not changed on renewal.
  await writeAccess({ ...started, pki }, 'renew');
}

async function writeAccess({ options, directory, pki, server }: PublishOptions, mode: 'make current' | 'renew'): Promise<void> {
  const { certificate: clientCertificate, key: clientKey } = pki.clients.admin;
  const caCertificate = pki.authority.certificate;
  const access: AdminAccess = { clusterName: contextName(options.name), server, caCertificate, clientCertificate, clientKey };
  await directory.write(directory.kubeconfig, renderKubeconfig(access));
  const file = options.kubeconfig;
  if (file !== undefined) await adding(file, async () => directory.write(file, mergeKubeconfig(await readIfExists(file), access, mode)));
}

/** Checked before anything is started. */
async function checkKubeconfig(kubeconfig: string | undefined): Promise<void> {
  if (kubeconfig !== undefined) await adding(kubeconfig, async () => void parsedKubeconfig(await readIfExists(kubeconfig)));
}

async function adding(file: string, add: () => Promise<void>): Promise<void> {
  try {
    await add();
  } catch (cause) {
    throw new Error(`cannot add the cluster to ${file}; repair it, choose another with --kubeconfig, or use --no-merge`, { cause });
  }
}

function runtimeState(runtime: NodeRuntime): NonNullable<ClusterState['runtime']> {
  const { description } = runtime;
  return runtime.type === 'simulated' ? { description } : { description, endpoint: runtime.endpoint };
}

/** `sampan`, or `sampan-NAME` for other clusters. */
export function contextName(name: string): string {
  return name === 'default' ? 'sampan' : `sampan-${name}`;
}
