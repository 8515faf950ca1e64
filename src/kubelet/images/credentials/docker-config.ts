import type { core } from '#api';
import type { AuthConfig } from '../../cri/runtime.ts';
import type { KeyringEntry } from './keyring.ts';

export class DockerConfigError extends Error {
  override readonly name = 'DockerConfigError';
}

const MAX_ENTRIES = 10_000;

/** The registry credentials in a pull secret, of either type. Other secrets have none. */
export function keyringEntriesOf({ type, data = {} }: core.Secret): readonly KeyringEntry[] {
  const text = (key: string) => {
    const value = new Map(Object.entries(data)).get(key);
    return value === undefined ? undefined : Buffer.from(value, 'base64').toString('utf8');
  };
  const json = type === 'kubernetes.io/dockerconfigjson' ? text('.dockerconfigjson') : undefined;
  if (json !== undefined && json !== '') return parseDockerConfig(json);
  const legacy = type === 'kubernetes.io/dockercfg' ? text('.dockercfg') : undefined;
  return legacy !== undefined && legacy !== '' ? parseEntries(parse(legacy)) : [];
}

/** Parses Docker's `config.json`. */
export function parseDockerConfig(text: string): readonly KeyringEntry[] {
  const { auths = {} } = parse(text) as { readonly auths?: unknown };
  return parseEntries(auths);
}

function parse(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // Reported below.
  }
  throw new DockerConfigError('the docker configuration is not JSON');
}

function parseEntries(auths: unknown): readonly KeyringEntry[] {
  if (typeof auths !== 'object' || auths === null) throw new DockerConfigError('the docker configuration has no list of registries');
  const entries = Object.entries(auths);
  if (entries.length > MAX_ENTRIES) throw new DockerConfigError(`the docker configuration has more than ${MAX_ENTRIES} registries`);
  return entries.map(([pattern, entry]) => ({ pattern, auth: parseAuth(pattern, entry as DockerEntry | null) }));
}

interface DockerEntry {
  readonly username?: unknown;
  readonly password?: unknown;
  /** `username:password` in base64. */
  readonly auth?: unknown;
}

function parseAuth(registry: string, entry: DockerEntry | null): AuthConfig {
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
  const auth = text(entry?.auth);
  if (auth !== undefined && auth !== '') {
    const decoded = Buffer.from(auth, 'base64').toString('utf8');
    const colon = decoded.indexOf(':');
    if (colon === -1) throw new DockerConfigError(`the credentials of ${registry} are not username:password in base64`);
    return { username: decoded.slice(0, colon), password: decoded.slice(colon + 1) };
  }
  return { username: text(entry?.username) ?? '', password: text(entry?.password) ?? '' };
}
