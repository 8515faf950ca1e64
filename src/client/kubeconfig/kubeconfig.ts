import { dirname, isAbsolute, join } from 'node:path';
import { parseYaml } from '#machinery';

/** The structure of a kubeconfig file. */
export interface Kubeconfig {
  readonly clusters: ReadonlyMap<string, KubeconfigCluster>;
  readonly users: ReadonlyMap<string, KubeconfigUser>;
  readonly contexts: ReadonlyMap<string, KubeconfigContext>;
  readonly currentContext: string;
}

export interface KubeconfigCluster {
  readonly server?: string;
  readonly 'tls-server-name'?: string;
  readonly 'insecure-skip-tls-verify'?: boolean;
  readonly 'certificate-authority'?: string;
  /** Base64. */
  readonly 'certificate-authority-data'?: string;
  readonly 'proxy-url'?: string;
}

export interface KubeconfigUser {
  readonly 'client-certificate'?: string;
  readonly 'client-certificate-data'?: string;
  readonly 'client-key'?: string;
  readonly 'client-key-data'?: string;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly username?: string;
  readonly password?: string;
  readonly as?: string;
  readonly 'as-uid'?: string;
  readonly 'as-groups'?: readonly string[];
  readonly 'as-user-extra'?: Readonly<Record<string, readonly string[]>>;
  readonly exec?: KubeconfigExec;
  readonly 'auth-provider'?: { readonly name: string };
}

export interface KubeconfigExec {
  readonly apiVersion?: string;
  readonly command: string;
  readonly args?: readonly string[] | null;
  readonly env?: readonly { readonly name: string; readonly value: string }[] | null;
  readonly installHint?: string;
  readonly provideClusterInfo?: boolean;
  readonly interactiveMode?: 'Never' | 'IfAvailable' | 'Always';
}

export interface KubeconfigContext {
  readonly cluster: string;
  readonly user: string;
  readonly namespace?: string;
}

export class KubeconfigError extends Error {
  override readonly name = 'KubeconfigError';
}

export interface KubeconfigSource {
  /** The file's path: relative paths in it are relative to its directory. */
  readonly path: string;
  readonly text: string;
}

type Raw = Readonly<Record<string, unknown>>;

export function parseKubeconfig({ path, text }: KubeconfigSource): Kubeconfig {
  const root = parsed(path, text);
  const entries = <T>(list: string, member: string) => namedEntries<T>(root, { list, member, path });
  const at = (file: string) => (isAbsolute(file) ? file : join(dirname(path), file));
  return {
    clusters: mapValues(entries<KubeconfigCluster>('clusters', 'cluster'), (cluster) => withPaths(cluster, ['certificate-authority'], at)),
    users: mapValues(entries<KubeconfigUser>('users', 'user'), (user) =>
      execAt(withPaths(user, ['client-certificate', 'client-key', 'tokenFile'], at), at),
    ),
    contexts: entries<KubeconfigContext>('contexts', 'context'),
    currentContext: typeof root['current-context'] === 'string' ? root['current-context'] : '',
  };
}

/** The first file to set a value wins, as for several paths in `KUBECONFIG`. */
export function mergeKubeconfigs(configs: readonly Kubeconfig[]): Kubeconfig {
  const merged = <T>(pick: (config: Kubeconfig) => ReadonlyMap<string, T>) =>
    new Map(configs.toReversed().flatMap((config) => [...pick(config)]));
  return {
    clusters: merged(({ clusters }) => clusters),
    users: merged(({ users }) => users),
    contexts: merged(({ contexts }) => contexts),
    currentContext: configs.find(({ currentContext }) => currentContext !== '')?.currentContext ?? '',
  };
}

function parsed(path: string, text: string): Raw {
  let value: unknown;
  try {
    value = text.trim() === '' ? {} : parseYaml(Buffer.from(text)).value;
  } catch (error) {
    throw new KubeconfigError(`error loading config file "${path}": ${(error as Error).message}`, { cause: error });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new KubeconfigError(`error loading config file "${path}": it is not a mapping`);
  }
  return value as Raw;
}

function namedEntries<T>(root: Raw, { list, member, path }: { list: string; member: string; path: string }): ReadonlyMap<string, T> {
  const items = root[list] ?? [];
  if (!Array.isArray(items)) throw new KubeconfigError(`error loading config file "${path}": ${list} is not a list`);
  return new Map(
    items.map((item: Raw, i) => {
      if (typeof item?.name !== 'string') throw new KubeconfigError(`error loading config file "${path}": ${list}[${i}] has no name`);
      return [item.name, (item[member] ?? {}) as T];
    }),
  );
}

function mapValues<T>(map: ReadonlyMap<string, T>, change: (value: T) => T): ReadonlyMap<string, T> {
  return new Map([...map].map(([key, value]) => [key, change(value)]));
}

function withPaths<T extends object>(value: T, names: readonly (keyof T & string)[], at: (file: string) => string): T {
  const changed = { ...value } as Record<string, unknown>;
  for (const name of names) if (typeof value[name] === 'string' && value[name] !== '') changed[name] = at(value[name] as string);
  return changed as T;
}

/** A command with a slash is relative to the config; one without is looked up in PATH. */
function execAt(user: KubeconfigUser, at: (file: string) => string): KubeconfigUser {
  if (!user.exec?.command?.includes('/')) return user;
  return { ...user, exec: { ...user.exec, command: at(user.exec.command) } };
}
