import net from 'node:net';
import type { Clock, Logger, Random } from '#base';
import { formatTime } from '#machinery';
import type { Store } from '#store';
import { DataDirectory } from './data-directory.ts';
import { type AdminAccess, mergeKubeconfig, parsedKubeconfig, readIfExists, renderKubeconfig } from './kubeconfig-file.ts';
import { openStore, type StoreChoice } from './open-store.ts';
import type { ClusterPki, PkiOptions } from './pki.ts';
import { loadPki } from './pki-files.ts';
import { isSameProcess, processIdentity } from './process-identity.ts';
import { renewCertificates } from './renew-certificates.ts';
import { type Cluster, type ClusterConfig, startCluster } from './start-cluster.ts';
import { untilUsable } from './until-usable.ts';

export interface LocalClusterOptions {
  readonly name: string;
  readonly dataDirectory: string;
  readonly host: string;
  /** Absent: 6443, or any other when that is taken. */
  readonly port?: number;
  readonly store: StoreChoice;
  /** The user's kubeconfig, to merge the cluster's context into; absent: it is left alone. */
  readonly kubeconfig?: string;
  readonly cluster?: Omit<ClusterConfig, 'listen' | 'pki'>;
  /** How long to wait until nodes are Ready and the default service account exists; 0 not to wait. Default: a minute. */
  readonly waitMs?: number;
}

export interface LocalClusterDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly onStep?: (step: string) => void;
}

export interface LocalCluster extends AsyncDisposable {
  readonly cluster: Cluster;
  readonly server: string;
  readonly kubeconfig: string;
  readonly dataDirectory: string;
}

/** What a running cluster leaves in its directory, for others to find it. */
export interface ClusterState {
  readonly name: string;
  readonly pid: number;
  /** Tells the process from a later one with its number. */
  readonly process?: string;
  readonly server: string;
  readonly startedAt: string;
  /** The kubeconfig that the cluster's context was merged into. */
  readonly kubeconfig?: string;
}

const DEFAULT_PORT = 6443;

/** Opens a cluster that keeps itself in a directory and is reached over TLS. Nothing is left running when it cannot start. */
export async function openLocalCluster(options: LocalClusterOptions, deps: LocalClusterDeps, signal?: AbortSignal): Promise<LocalCluster> {
  const { host } = options;
  const directory = new DataDirectory(options.dataDirectory);
  await directory.create();
  await refuseUnusable(options.kubeconfig);
  const port = await choosePort(options, directory);
  deps.onStep?.('certificates, store');
  const { pki, store } = await openBoth(options, directory, deps);
  let cluster: Cluster | undefined;
  try {
    cluster = startCluster({ ...options.cluster, listen: { host, port }, pki }, { ...deps, store }, signal);
    await untilUsable(cluster, { ...options.cluster, ...(options.waitMs !== undefined && { waitMs: options.waitMs }) }, deps);
    const server = `https://${host.includes(':') ? `[${host}]` : host}:${cluster.apiServer.port}`;
    await publish({ options, directory, pki, server, deps });
    return running({ cluster, store, directory, options, deps, pki, server });
  } catch (error) {
    await cluster?.[Symbol.asyncDispose]().catch(() => {});
    await store.close();
    throw error;
  }
}

/** At once, for each waits for the disk more than it works. */
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

function pkiNames({ host }: LocalClusterOptions, { random }: LocalClusterDeps): Omit<PkiOptions, 'now'> {
  const names = net.isIP(host) ? { ipAddresses: [host, '127.0.0.1'] } : { ipAddresses: ['127.0.0.1'], dnsNames: [host] };
  return { names, random };
}

interface Started extends Publishing {
  readonly cluster: Cluster;
  readonly store: Store;
}

function running(started: Started): LocalCluster {
  const { cluster, store, directory, server, options, deps } = started;
  const stopping = new AbortController();
  const keyKept = makeKey(started);
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
      await Promise.all([renewing, keyKept]);
      await cluster[Symbol.asyncDispose]();
      await store.close();
      const { name, kubeconfig } = options;
      await directory.write(directory.state, JSON.stringify({ name, server, ...(kubeconfig && { kubeconfig }), stopped: true }));
    },
  };
}

/** Now that the cluster runs: whoever asks for the first token finds the key made. */
async function makeKey({ pki: { serviceAccountKey }, deps }: Started): Promise<void> {
  try {
    if (typeof serviceAccountKey === 'function') await serviceAccountKey();
  } catch (error) {
    deps.logger.error('the key for tokens of service accounts could not be kept; it is made anew when one is asked for', { error });
  }
}

/** The port that was asked for, the one it had before, the usual one, or any. */
async function choosePort({ host, port }: LocalClusterOptions, directory: DataDirectory): Promise<number> {
  if (port !== undefined) {
    await refuseTaken(host, port);
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

/** What the directory tells of a cluster that runs; undefined when none does, whatever an earlier one left behind. */
export async function readRunning(directory: DataDirectory): Promise<ClusterState | undefined> {
  const state = await readState(directory);
  return state?.pid !== undefined && isSameProcess(state.pid, state.process) ? state : undefined;
}

async function isFree(host: string, port: number): Promise<boolean> {
  const code = await listenErrorOf(host, port);
  if (code !== undefined && code !== 'EADDRINUSE' && code !== 'EACCES') throw cannotListen(host, code);
  return code === undefined;
}

async function refuseTaken(host: string, port: number): Promise<void> {
  const code = await listenErrorOf(host, port);
  if (code === 'EADDRINUSE')
    throw new Error(`port ${port} on ${host} is in use; choose another with --port, or leave it out to get a free one`);
  if (code === 'EACCES') throw new Error(`port ${port} may not be used by this user; choose one above 1023 with --port`);
  if (code !== undefined) throw cannotListen(host, code);
}

function cannotListen(host: string, code: string): Error {
  return new Error(`cannot listen on ${host} (${code}); give an address of this machine with --host`);
}

/** Why nobody can listen there; undefined when one can. */
function listenErrorOf(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const probe = net.createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'unknown'));
    probe.listen(port, host, () => probe.close(() => resolve(undefined)));
  });
}

interface Publishing {
  readonly options: LocalClusterOptions;
  readonly directory: DataDirectory;
  readonly pki: ClusterPki;
  readonly server: string;
  readonly deps: LocalClusterDeps;
}

/** Lets others find the cluster: its kubeconfig, the user's own, and the state file. */
async function publish(publishing: Publishing): Promise<void> {
  const { options, directory, server, deps } = publishing;
  await writeAccess(publishing, 'make current');
  const { name, kubeconfig } = options;
  const { pid } = process;
  const identity = processIdentity(pid);
  const startedAt = formatTime(deps.clock.now());
  const state: ClusterState = { name, pid, ...(identity && { process: identity }), server, startedAt, ...(kubeconfig && { kubeconfig }) };
  await directory.write(directory.state, JSON.stringify(state));
}

async function useRenewed(started: Started, pki: ClusterPki): Promise<void> {
  started.cluster.useCertificates(pki);
  // Which context is current is the user's choice by now.
  await writeAccess({ ...started, pki }, 'renew');
}

async function writeAccess({ options, directory, pki, server }: Publishing, how: 'make current' | 'renew'): Promise<void> {
  const { certificate: clientCertificate, key: clientKey } = pki.clients.admin;
  const caCertificate = pki.authority.certificate;
  const access: AdminAccess = { clusterName: contextName(options.name), server, caCertificate, clientCertificate, clientKey };
  await directory.write(directory.kubeconfig, renderKubeconfig(access));
  const file = options.kubeconfig;
  if (file !== undefined) await adding(file, async () => directory.write(file, mergeKubeconfig(await readIfExists(file), access, how)));
}

/** Before anything is started that would have to be stopped again. */
async function refuseUnusable(kubeconfig: string | undefined): Promise<void> {
  if (kubeconfig !== undefined) await adding(kubeconfig, async () => void parsedKubeconfig(await readIfExists(kubeconfig)));
}

async function adding(file: string, add: () => Promise<void>): Promise<void> {
  try {
    await add();
  } catch (cause) {
    throw new Error(`cannot add the cluster to ${file}; repair it, choose another with --kubeconfig, or use --no-merge`, { cause });
  }
}

/** `sampan`, or `sampan-NAME` for clusters beside the first. */
export function contextName(name: string): string {
  return name === 'default' ? 'sampan' : `sampan-${name}`;
}
