import { readFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { ConnectionConfig, CredentialConfig } from '../http/connection-config.ts';
import type { ExecPlugin } from '../http/exec-plugin.ts';
import {
  type Kubeconfig,
  type KubeconfigCluster,
  KubeconfigError,
  type KubeconfigExec,
  type KubeconfigUser,
  mergeKubeconfigs,
  parseKubeconfig,
} from './kubeconfig.ts';

/** How to find and read a kubeconfig: values that a program took from its arguments and environment. */
export interface KubeconfigChoice {
  /** As `--kubeconfig`: this file alone, which must exist. */
  readonly path?: string;
  /** As `$KUBECONFIG`: files to merge; missing ones are ignored. */
  readonly env?: string;
  readonly homeDirectory?: string;
  readonly context?: string;
  readonly cluster?: string;
  readonly user?: string;
  /** The environment of exec plugins. */
  readonly processEnv?: Readonly<Record<string, string | undefined>>;
  readonly isInteractive?: boolean;
}

export interface LoadedConnection {
  readonly connection: ConnectionConfig;
  /** The context's namespace. */
  readonly namespace: string;
  readonly context: string;
}

export async function loadKubeconfig(choice: KubeconfigChoice): Promise<Kubeconfig> {
  if (choice.path) return parseKubeconfig({ path: choice.path, text: await readFile(choice.path, 'utf8') });
  const fallback = choice.homeDirectory ? [join(choice.homeDirectory, '.kube', 'config')] : [];
  const paths = choice.env ? choice.env.split(delimiter).filter((path) => path !== '') : fallback;
  const configs = await Promise.all(paths.map(readIfPresent));
  return mergeKubeconfigs(configs.filter((config) => config !== undefined));
}

export async function loadConnection(choice: KubeconfigChoice): Promise<LoadedConnection> {
  return connectionFrom(await loadKubeconfig(choice), choice);
}

async function readIfPresent(path: string): Promise<Kubeconfig | undefined> {
  try {
    return parseKubeconfig({ path, text: await readFile(path, 'utf8') });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** The connection of a context. Reads the files that it references. */
export async function connectionFrom(config: Kubeconfig, choice: KubeconfigChoice = {}): Promise<LoadedConnection> {
  const name = choice.context || config.currentContext;
  const context = config.contexts.get(name);
  if (name !== '' && context === undefined) throw new KubeconfigError(`context "${name}" does not exist`);
  const clusterName = choice.cluster || context?.cluster || '';
  const cluster = config.clusters.get(clusterName);
  if (clusterName !== '' && cluster === undefined) throw new KubeconfigError(`cluster "${clusterName}" does not exist`);
  const userName = choice.user || context?.user || '';
  const user = config.users.get(userName);
  if (userName !== '' && user === undefined) throw new KubeconfigError(`auth info "${userName}" does not exist`);
  if (!cluster?.server) throw new KubeconfigError('no server is configured: no context is set, or its cluster has no server');
  return { connection: await connection(cluster, user ?? {}, choice), namespace: context?.namespace || 'default', context: name };
}

async function connection(cluster: KubeconfigCluster, user: KubeconfigUser, choice: KubeconfigChoice): Promise<ConnectionConfig> {
  if (cluster['proxy-url']) throw new KubeconfigError('proxy-url is not supported: connect to the server directly');
  const ca = await pem(cluster['certificate-authority-data'], cluster['certificate-authority']);
  const insecure = cluster['insecure-skip-tls-verify'] === true;
  if (insecure && ca) throw new KubeconfigError('specifying a root certificates file with the insecure flag is not allowed');
  return {
    server: cluster.server!,
    ...(ca && { ca }),
    ...(insecure && { insecureSkipTlsVerify: true }),
    ...(cluster['tls-server-name'] && { tlsServerName: cluster['tls-server-name'] }),
    credentials: await credentials(cluster, user, choice),
    ...impersonation(user),
  };
}

async function credentials(cluster: KubeconfigCluster, user: KubeconfigUser, choice: KubeconfigChoice): Promise<CredentialConfig> {
  if (user['auth-provider'])
    throw new KubeconfigError(`no auth provider found for name "${user['auth-provider'].name}": use an exec plugin`);
  const cert = await pem(user['client-certificate-data'], user['client-certificate']);
  const key = await pem(user['client-key-data'], user['client-key']);
  const { token, tokenFile, username, password = '', exec } = user;
  return {
    ...(cert && { cert }),
    ...(key && { key }),
    ...(token && { token }),
    ...(tokenFile && { tokenFile }),
    ...(username && { basic: { username, password } }),
    ...(exec && { exec: await execPlugin(exec, cluster, choice) }),
  };
}

async function execPlugin(exec: KubeconfigExec, cluster: KubeconfigCluster, choice: KubeconfigChoice): Promise<ExecPlugin> {
  const { apiVersion = '', command, args, env, installHint, provideClusterInfo, interactiveMode } = exec;
  if (!command) throw new KubeconfigError('an exec plugin needs a command');
  return {
    apiVersion,
    command,
    ...(args && { args }),
    ...(env && { env }),
    ...(installHint && { installHint }),
    ...(interactiveMode && { interactiveMode }),
    ...(choice.processEnv && { baseEnv: choice.processEnv }),
    ...(choice.isInteractive && { isInteractive: true }),
    ...(provideClusterInfo && { cluster: await clusterInfo(cluster) }),
  };
}

async function clusterInfo(cluster: KubeconfigCluster): Promise<Readonly<Record<string, unknown>>> {
  const ca = await pem(cluster['certificate-authority-data'], cluster['certificate-authority']);
  return {
    server: cluster.server,
    ...(cluster['tls-server-name'] && { 'tls-server-name': cluster['tls-server-name'] }),
    ...(cluster['insecure-skip-tls-verify'] && { 'insecure-skip-tls-verify': true }),
    ...(ca && { 'certificate-authority-data': Buffer.from(ca).toString('base64') }),
    config: null,
  };
}

function impersonation(user: KubeconfigUser): Pick<ConnectionConfig, 'impersonate'> {
  const { as, 'as-uid': uid, 'as-groups': groups, 'as-user-extra': extra } = user;
  if (!as) {
    if (uid || groups?.length || extra) throw new KubeconfigError('requesting uid, groups or user-extra without impersonating a user');
    return {};
  }
  return { impersonate: { user: as, ...(uid && { uid }), ...(groups && { groups }), ...(extra && { extra }) } };
}

/** Inline data takes precedence over a file. */
async function pem(data: string | undefined, file: string | undefined): Promise<string | undefined> {
  if (data) return Buffer.from(data, 'base64').toString('utf8');
  return file ? readFile(file, 'utf8') : undefined;
}

export interface InClusterValues {
  /** `$KUBERNETES_SERVICE_HOST` and `$KUBERNETES_SERVICE_PORT`. */
  readonly host: string;
  readonly port: string;
  /** Default: the service account directory of pods. */
  readonly directory?: string;
}

const SERVICE_ACCOUNT_DIRECTORY = '/var/run/secrets/kubernetes.io/serviceaccount';

/** The connection of a pod to its API server. */
export async function inClusterConnection({
  host,
  port,
  directory = SERVICE_ACCOUNT_DIRECTORY,
}: InClusterValues): Promise<ConnectionConfig> {
  const shownHost = host.includes(':') ? `[${host}]` : host;
  const ca = await readFile(join(directory, 'ca.crt'), 'utf8');
  return { server: `https://${shownHost}:${port}`, ca, credentials: { tokenFile: join(directory, 'token') } };
}
