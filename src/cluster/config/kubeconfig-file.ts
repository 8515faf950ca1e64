import { readFile } from 'node:fs/promises';
import { encodeYaml, isJsonArray, isJsonObject, type JsonObject, type JsonValue, parseYaml } from '#machinery';

/** Administrator access to a cluster. PEM texts. */
export interface AdminAccess {
  readonly clusterName: string;
  readonly server: string;
  readonly caCertificate: string;
  readonly clientCertificate: string;
  readonly clientKey: string;
}

const base64 = (pem: string) => Buffer.from(pem).toString('base64');

/** A kubeconfig with one context, named after the cluster. */
export function renderKubeconfig(access: AdminAccess): string {
  return encodeYaml(kubeconfigOf(access));
}

function kubeconfigOf({ clusterName: name, server, caCertificate, clientCertificate, clientKey }: AdminAccess): JsonObject {
  const user = { 'client-certificate-data': base64(clientCertificate), 'client-key-data': base64(clientKey) };
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server, 'certificate-authority-data': base64(caCertificate) } }],
    users: [{ name: `${name}-admin`, user }],
    contexts: [{ name, context: { cluster: name, user: `${name}-admin` } }],
    'current-context': name,
  };
}

/** Adds or renews this cluster's entries in an existing kubeconfig, and makes its context current when added. Everything else is kept. */
export function mergeKubeconfig(
  existing: string | undefined,
  access: AdminAccess,
  mode: 'make current' | 'renew' = 'make current',
): string {
  const own = kubeconfigOf(access);
  const present = parsedKubeconfig(existing);
  const current = mode === 'renew' ? (present['current-context'] ?? '') : access.clusterName;
  const merged: Record<string, JsonValue> = { ...present, apiVersion: 'v1', kind: 'Config', 'current-context': current };
  for (const section of ['clusters', 'users', 'contexts'])
    merged[section] = mergeNamed(present[section], own[section] as readonly JsonObject[]);
  return encodeYaml(merged);
}

/** Throws when the kubeconfig is malformed. */
export function parsedKubeconfig(text: string | undefined): JsonObject {
  const value = text === undefined || text.trim() === '' ? {} : parseYaml(text).value;
  if (!isJsonObject(value)) throw new Error('the kubeconfig is not a YAML mapping');
  return value;
}

/** A kubeconfig without the cluster's entries. */
export function withoutCluster(existing: string, clusterName: string): string {
  const present = parseYaml(existing).value;
  if (!isJsonObject(present)) return existing;
  const names: ReadonlySet<string> = new Set([clusterName, `${clusterName}-admin`]);
  const rest: Record<string, JsonValue> = { ...present };
  for (const section of ['clusters', 'users', 'contexts']) {
    const entries = rest[section];
    if (isJsonArray(entries)) rest[section] = entries.filter((entry) => !(isJsonObject(entry) && names.has(String(entry.name))));
  }
  if (rest['current-context'] === clusterName) rest['current-context'] = '';
  return encodeYaml(rest);
}

function mergeNamed(present: JsonValue | undefined, own: readonly JsonObject[]): JsonValue {
  const names = new Set(own.map((entry) => entry.name));
  const others = isJsonArray(present) ? present.filter((entry) => !(isJsonObject(entry) && names.has(entry.name as string))) : [];
  return [...others, ...own];
}

export async function readIfExists(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
