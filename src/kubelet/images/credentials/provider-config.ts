import path from 'node:path';
import { isStringArray, parseDurationMs, parseYaml } from '#machinery';

export interface CredentialProviderSpec {
  /** The program's file name. */
  readonly name: string;
  readonly matchImages: readonly string[];
  readonly defaultCacheMs: number;
  /** Of requests and responses. */
  readonly apiVersion: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
}

const CONFIG_VERSIONS = ['kubelet.config.k8s.io/v1', 'kubelet.config.k8s.io/v1beta1', 'kubelet.config.k8s.io/v1alpha1'];
const PROVIDER_VERSIONS = ['v1', 'v1beta1', 'v1alpha1'].map((version) => `credentialprovider.kubelet.k8s.io/${version}`);
const FIELDS = ['name', 'matchImages', 'defaultCacheDuration', 'apiVersion', 'args', 'env'];

/** Parses the file of `--image-credential-provider-config`. Throws with a description of the error. */
export function parseProviderConfig(text: string): readonly CredentialProviderSpec[] {
  const config = parseYaml(text).value as Record<string, unknown> | null;
  if (config?.kind !== 'CredentialProviderConfig' || !CONFIG_VERSIONS.includes(String(config.apiVersion))) {
    throw new Error(`not a CredentialProviderConfig of ${CONFIG_VERSIONS[0]}`);
  }
  const { providers } = config;
  if (!Array.isArray(providers) || providers.length === 0) throw new Error('at least 1 item in plugins is required');
  const specs = providers.map((provider: unknown, i) => parseProvider(provider as Record<string, unknown>, `providers[${i}]`));
  const names = new Set<string>();
  for (const { name } of specs) {
    if (names.has(name)) throw new Error(`provider ${JSON.stringify(name)} is defined twice`);
    names.add(name);
  }
  return specs;
}

function parseProvider(provider: Record<string, unknown>, where: string): CredentialProviderSpec {
  if (typeof provider !== 'object' || provider === null) throw new Error(`${where} is not a provider`);
  const unknown = Object.keys(provider).find((key) => !FIELDS.includes(key));
  if (unknown === 'tokenAttributes') throw new Error(`${where}.tokenAttributes: tokens of service accounts are not supported`);
  if (unknown !== undefined) throw new Error(`${where}: unknown field ${JSON.stringify(unknown)}`);
  const { name, matchImages, defaultCacheDuration, apiVersion, args = [], env = [] } = provider;
  if (typeof name !== 'string' || name === '' || name === '.' || name === '..' || name !== path.basename(name) || /\s/.test(name)) {
    throw new Error(`${where}.name must be the name of a program, without spaces and slashes`);
  }
  if (!isStringArray(matchImages) || matchImages.length === 0) throw new Error(`${where}.matchImages needs at least one pattern`);
  if (typeof apiVersion !== 'string' || !PROVIDER_VERSIONS.includes(apiVersion)) {
    throw new Error(`${where}.apiVersion must be one of ${PROVIDER_VERSIONS.join(', ')}`);
  }
  if (!isStringArray(args)) throw new Error(`${where}.args must be a list of texts`);
  return { name, matchImages, apiVersion, args, env: parseEnv(env, where), defaultCacheMs: parseCache(defaultCacheDuration, where) };
}

function parseCache(duration: unknown, where: string): number {
  try {
    const ms = parseDurationMs(String(duration));
    if (duration !== undefined && ms >= 0) return ms;
  } catch {
    // Reported below.
  }
  throw new Error(`${where}.defaultCacheDuration must be a duration that is not negative`);
}

function parseEnv(env: unknown, where: string): CredentialProviderSpec['env'] {
  const isValid =
    Array.isArray(env) &&
    env.every((item: { name?: unknown; value?: unknown }) => typeof item?.name === 'string' && typeof item.value === 'string');
  if (!isValid) throw new Error(`${where}.env must be a list of names and values`);
  return env as CredentialProviderSpec['env'];
}
