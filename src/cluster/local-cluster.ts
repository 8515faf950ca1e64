import { access } from 'node:fs/promises';
import net from 'node:net';
import type { Clock, Logger, Random } from '#base';
import { formatTime } from '#machinery';
import { openEmbeddedStore, openEtcdStore, openMemoryStore, type Store } from '#store';
import { DataDirectory } from './data-directory.ts';
import { type AdminAccess, mergeKubeconfig, readIfExists, renderKubeconfig } from './kubeconfig-file.ts';
import type { ClusterPki } from './pki.ts';
import { loadPki } from './pki-files.ts';
import { type Cluster, type ClusterConfig, startCluster } from './start-cluster.ts';

export interface LocalClusterOptions {
  readonly name: string;
  readonly dataDirectory: string;
  readonly host: string;
  /** Absent: 6443, or any other when that is taken. */
  readonly port?: number;
  readonly store:
    | { readonly type: 'embedded' }
    | { readonly type: 'memory' }
    | { readonly type: 'etcd'; readonly endpoints: readonly string[] };
  /** The user's kubeconfig, to merge the cluster's context into; absent: it is left alone. */
  readonly kubeconfig?: string;
  readonly cluster?: Omit<ClusterConfig, 'listen' | 'pki'>;
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
  readonly server: string;
  readonly startedAt: string;
}

const DEFAULT_PORT = 6443;

/** Opens a cluster that keeps itself in a directory and is reached over TLS. Nothing is left running when it cannot start. */
export async function openLocalCluster(options: LocalClusterOptions, deps: LocalClusterDeps, signal?: AbortSignal): Promise<LocalCluster> {
  const { host, name } = options;
  const directory = new DataDirectory(options.dataDirectory);
  await directory.create();
  const port = await choosePort(options, directory);
  deps.onStep?.('certificates');
  const names = net.isIP(host) ? { ipAddresses: [host, '127.0.0.1'] } : { ipAddresses: ['127.0.0.1'], dnsNames: [host] };
  const pki = await loadPki(directory, { names, now: deps.clock.now(), random: deps.random });
  deps.onStep?.('store');
  const store = await openStore(options, directory, deps);
  try {
    const cluster = startCluster({ ...options.cluster, listen: { host, port }, pki }, { ...deps, store }, signal);
    await cluster.ready;
    const server = `https://${host.includes(':') ? `[${host}]` : host}:${cluster.apiServer.port}`;
    await publish({ options, directory, pki, server, deps });
    return {
      cluster,
      server,
      kubeconfig: directory.kubeconfig,
      dataDirectory: directory.root,
      async [Symbol.asyncDispose]() {
        await cluster[Symbol.asyncDispose]();
        await store.close();
        await directory.write(directory.state, JSON.stringify({ name, server, stopped: true }));
      },
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function openStore(
  { store }: LocalClusterOptions,
  directory: DataDirectory,
  { clock, random, logger }: LocalClusterDeps,
): Promise<Store> {
  switch (store.type) {
    case 'memory':
      return openMemoryStore({ clock });
    case 'embedded':
      return openEmbeddedStore({ directory: directory.store, clock, logger });
    case 'etcd':
      return openEtcdStore({ endpoints: store.endpoints, clock, random, logger });
  }
}

/** The port that was asked for, the one it had before, the usual one, or any. */
async function choosePort({ host, port }: LocalClusterOptions, directory: DataDirectory): Promise<number> {
  if (port !== undefined) {
    if (port !== 0 && !(await isFree(host, port)))
      throw new Error(`port ${port} on ${host} is in use; choose another with --port, or leave it out to get a free one`);
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

function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = net.createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, host, () => probe.close(() => resolve(true)));
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
async function publish({ options, directory, pki, server, deps }: Publishing): Promise<void> {
  const { certificate: clientCertificate, key: clientKey } = pki.clients.admin;
  const access: AdminAccess = {
    clusterName: contextName(options.name),
    server,
    caCertificate: pki.authority.certificate,
    clientCertificate,
    clientKey,
  };
  await directory.write(directory.kubeconfig, renderKubeconfig(access));
  if (options.kubeconfig !== undefined)
    await directory.write(options.kubeconfig, mergeKubeconfig(await readIfExists(options.kubeconfig), access));
  const state: ClusterState = { name: options.name, pid: process.pid, server, startedAt: formatTime(deps.clock.now()) };
  await directory.write(directory.state, JSON.stringify(state));
}

/** `sampan`, or `sampan-NAME` for clusters beside the first. */
export function contextName(name: string): string {
  return name === 'default' ? 'sampan' : `sampan-${name}`;
}

export async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
