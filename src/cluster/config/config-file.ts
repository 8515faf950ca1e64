import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, parseDurationMs, parseYaml } from '#machinery';

/** The file of `sampan up --config`. Absent fields: command line or default. */
export interface ConfigFile {
  readonly name?: string;
  readonly dataDir?: string;
  readonly host?: string;
  readonly port?: number;
  readonly nodes?: number;
  readonly store?: { readonly type: StoreType; readonly etcdServers?: readonly string[] };
  /** The user's kubeconfig that gets the cluster's context. */
  readonly kubeconfig?: string;
  readonly merge?: boolean;
  readonly waitMs?: number;
  readonly apiServer?: ComponentFlags;
  readonly controllerManager?: ComponentFlags;
  readonly scheduler?: ComponentFlags;
  readonly kubelet?: ComponentFlags;
  readonly proxy?: ComponentFlags;
  /** Addresses for services of type LoadBalancer. */
  readonly loadBalancerRanges?: readonly string[];
}

/** Values of a component's flags, by upstream's names. */
export type ComponentFlags = Readonly<Record<string, string>>;

export type StoreType = (typeof STORE_TYPES)[number];

const STORE_TYPES = ['embedded', 'memory', 'etcd'] as const;

/** An invalid configuration; the message has the path and what is expected. */
export class ConfigFileError extends Error {
  override readonly name = 'ConfigFileError';
}

type Reader = (value: JsonValue, path: string) => unknown;

const FIELDS: Readonly<Record<keyof ConfigFile, { readonly key: string; readonly read: Reader }>> = {
  name: { key: 'name', read: text },
  dataDir: { key: 'dataDir', read: text },
  host: { key: 'host', read: text },
  port: { key: 'port', read: integerTo(65_535) },
  nodes: { key: 'nodes', read: integerTo(10_000) },
  store: { key: 'store', read: store },
  kubeconfig: { key: 'kubeconfig', read: text },
  merge: { key: 'merge', read: bool },
  waitMs: { key: 'wait', read: duration },
  apiServer: { key: 'apiServer', read: componentFlags },
  controllerManager: { key: 'controllerManager', read: componentFlags },
  scheduler: { key: 'scheduler', read: componentFlags },
  kubelet: { key: 'kubelet', read: componentFlags },
  proxy: { key: 'proxy', read: componentFlags },
  loadBalancerRanges: { key: 'loadBalancerRanges', read: texts },
};

/** Throws a ConfigFileError on unknown fields. */
export function parseConfigFile(source: string): ConfigFile {
  const value = parsed(source);
  if (value === null) return {};
  if (!isJsonObject(value)) throw new ConfigFileError(`the file must be a mapping, such as 'nodes: 3', but it is ${kindOf(value)}`);
  const keys = Object.values(FIELDS).map(({ key }) => key);
  rejectUnknownFields(value, keys, '');
  const read = Object.entries(FIELDS).flatMap(([field, { key, read }]) => {
    const fieldValue = value[key];
    return fieldValue === undefined ? [] : [[field, read(fieldValue, key)] as const];
  });
  return Object.fromEntries(read) as ConfigFile;
}

function parsed(source: string): JsonValue {
  try {
    const { value, problems } = parseYaml(source);
    if (problems[0] !== undefined) throw new Error(problems[0]);
    return value;
  } catch (error) {
    throw new ConfigFileError((error as Error).message);
  }
}

function rejectUnknownFields(value: JsonObject, allowed: readonly string[], path: string): void {
  const unknown = Object.keys(value).find((key) => !allowed.includes(key));
  if (unknown === undefined) return;
  const letters = (key: string) => key.toLowerCase().replace(/[-_]/g, '');
  const near = allowed.find((key) => letters(key).startsWith(letters(unknown)) || letters(unknown).startsWith(letters(key)));
  const hint = near === undefined ? `known are ${allowed.join(', ')}` : `did you mean ${path}${near}?`;
  throw new ConfigFileError(`${path}${unknown} is not a setting; ${hint}`);
}

function wrong(path: string, expected: string, value: JsonValue): ConfigFileError {
  return new ConfigFileError(`${path} must be ${expected}, but it is ${kindOf(value)}`);
}

function kindOf(value: JsonValue): string {
  if (value === null) return 'empty';
  if (isJsonArray(value)) return 'a list';
  return isJsonObject(value) ? 'a mapping' : `the ${typeof value} ${JSON.stringify(value)}`;
}

function text(value: JsonValue, path: string): string {
  if (typeof value !== 'string' || value === '') throw wrong(path, 'a text', value);
  return value;
}

function texts(value: JsonValue, path: string): readonly string[] {
  if (!isJsonArray(value)) throw wrong(path, 'a list of texts', value);
  return value.map((item, i) => text(item, `${path}[${i}]`));
}

function bool(value: JsonValue, path: string): boolean {
  if (typeof value !== 'boolean') throw wrong(path, 'true or false', value);
  return value;
}

function integerTo(most: number): (value: JsonValue, path: string) => number {
  return (value, path) => {
    if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > most)
      throw wrong(path, `a whole number from 0 to ${most}`, value);
    return value;
  };
}

function duration(value: JsonValue, path: string): number {
  try {
    return parseDurationMs(text(value, path));
  } catch {
    throw wrong(path, "a duration such as '30s' or '2m'", value);
  }
}

function store(value: JsonValue, path: string): NonNullable<ConfigFile['store']> {
  if (!isJsonObject(value)) throw wrong(path, "a mapping with 'type'", value);
  rejectUnknownFields(value, ['type', 'etcdServers'], `${path}.`);
  const type = STORE_TYPES.find((candidate) => candidate === value.type);
  if (type === undefined) throw wrong(`${path}.type`, `one of ${STORE_TYPES.join(', ')}`, value.type ?? null);
  if (type !== 'etcd') {
    if (value.etcdServers !== undefined) throw new ConfigFileError(`${path}.etcdServers requires ${path}.type: etcd`);
    return { type };
  }
  const servers = value.etcdServers ?? null;
  if (!isJsonArray(servers) || servers.length === 0)
    throw wrong(`${path}.etcdServers`, "a list of URLs, such as ['http://127.0.0.1:2379']", servers);
  return { type, etcdServers: servers.map((server, i) => text(server, `${path}.etcdServers[${i}]`)) };
}

/** Flag values may be YAML scalars or lists. */
function componentFlags(value: JsonValue, path: string): ComponentFlags {
  if (!isJsonObject(value)) throw wrong(path, "a mapping of the component's flags to their values", value);
  return Object.fromEntries(Object.entries(value).map(([name, setting]) => [name, flagText(setting, `${path}.${name}`)]));
}

function flagText(value: JsonValue, path: string): string {
  if (isJsonArray(value)) return value.map((item, i) => flagText(item, `${path}[${i}]`)).join(',');
  if (value === null || isJsonObject(value)) throw wrong(path, 'a text, a number, a truth value or a list of them', value);
  return String(value);
}
