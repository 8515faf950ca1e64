import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { checkQualifiedName, isStringArray, parseDurationMs, parseYaml } from '#machinery';

export interface CredentialProviderSpec {
  /** The program's file name. */
  readonly name: string;
  readonly matchImages: readonly string[];
  readonly defaultCacheMs: number;
  /** Of requests and responses. */
  readonly apiVersion: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  /** Absent: it needs no token of a service account. */
  readonly tokens?: ProviderTokens;
}

/** `tokenAttributes`: the program is given a token of the pod's service account, and annotations of that. */
export interface ProviderTokens {
  readonly audience: string;
  /** Not called for pods without a service account. */
  readonly requiresAccount: boolean;
  /** Not called where the service account lacks one of these annotations. */
  readonly requiredAnnotations: readonly string[];
  readonly optionalAnnotations: readonly string[];
  /** What its answers are good for: the token, or all of the service account. */
  readonly cacheType: 'Token' | 'ServiceAccount';
}

const CONFIG_VERSIONS = ['kubelet.config.k8s.io/v1', 'kubelet.config.k8s.io/v1beta1', 'kubelet.config.k8s.io/v1alpha1'];
const PROVIDER_VERSIONS = ['v1', 'v1beta1', 'v1alpha1'].map((version) => `credentialprovider.kubelet.k8s.io/${version}`);
const FIELDS = ['name', 'matchImages', 'defaultCacheDuration', 'apiVersion', 'args', 'env', 'tokenAttributes'];

/** Reads `--image-credential-provider-config`: a file, or the JSON and YAML files of a directory, in the order of their names. */
export function readProviderConfig(place: string): readonly CredentialProviderSpec[] {
  const files = statSync(place).isDirectory() ? configFiles(place) : [place];
  const specs = files.flatMap((file) => parseProviderConfig(readFileSync(file, 'utf8')));
  const names = new Set<string>();
  for (const { name } of specs) {
    if (names.has(name)) throw new Error(`duplicate provider name ${JSON.stringify(name)} found in configuration file(s)`);
    names.add(name);
  }
  return specs;
}

function configFiles(directory: string): readonly string[] {
  const entries = readdirSync(directory, { withFileTypes: true }).filter(
    (entry) => !entry.isDirectory() && /\.(json|ya?ml)$/.test(entry.name),
  );
  if (entries.length === 0) throw new Error(`no configuration files found in directory ${JSON.stringify(directory)}`);
  return entries.map(({ name }) => path.join(directory, name)).sort();
}

/** Parses a file of `--image-credential-provider-config`. Throws with a description of the error. */
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
  if (unknown !== undefined) throw new Error(`${where}: unknown field ${JSON.stringify(unknown)}`);
  const { name, matchImages, defaultCacheDuration, apiVersion, args = [], env = [], tokenAttributes } = provider;
  if (typeof name !== 'string' || name === '' || name === '.' || name === '..' || name !== path.basename(name) || /\s/.test(name)) {
    throw new Error(`${where}.name must be the name of a program, without spaces and slashes`);
  }
  if (!isStringArray(matchImages) || matchImages.length === 0) throw new Error(`${where}.matchImages needs at least one pattern`);
  if (typeof apiVersion !== 'string' || !PROVIDER_VERSIONS.includes(apiVersion)) {
    throw new Error(`${where}.apiVersion must be one of ${PROVIDER_VERSIONS.join(', ')}`);
  }
  if (!isStringArray(args)) throw new Error(`${where}.args must be a list of texts`);
  const tokens = tokenAttributes === undefined ? undefined : parseTokens(tokenAttributes, apiVersion, `${where}.tokenAttributes`);
  const common = { name, matchImages, apiVersion, args, env: parseEnv(env, where) };
  return { ...common, defaultCacheMs: parseCache(defaultCacheDuration, where), ...(tokens && { tokens }) };
}

function parseTokens(attributes: unknown, apiVersion: string, where: string): ProviderTokens {
  if (typeof attributes !== 'object' || attributes === null) throw new Error(`${where} must be an object`);
  if (apiVersion !== PROVIDER_VERSIONS[0]) throw new Error(`${where} is only supported for ${PROVIDER_VERSIONS[0]} API version`);
  const { serviceAccountTokenAudience, requireServiceAccount, cacheType, ...keys } = attributes as Record<string, unknown>;
  const { requiredServiceAccountAnnotationKeys: required = [], optionalServiceAccountAnnotationKeys: optional = [], ...others } = keys;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw new Error(`${where}: unknown field ${JSON.stringify(unknown)}`);
  if (typeof serviceAccountTokenAudience !== 'string' || serviceAccountTokenAudience === '')
    throw new Error(`${where}.serviceAccountTokenAudience is required`);
  if (typeof requireServiceAccount !== 'boolean') throw new Error(`${where}.requireServiceAccount is required`);
  if (cacheType !== 'Token' && cacheType !== 'ServiceAccount') throw new Error(`${where}.cacheType must be ServiceAccount or Token`);
  const requiredAnnotations = parseKeys(required, `${where}.requiredServiceAccountAnnotationKeys`);
  const optionalAnnotations = parseKeys(optional, `${where}.optionalServiceAccountAnnotationKeys`);
  if (!requireServiceAccount && requiredAnnotations.length > 0)
    throw new Error(`${where}: requireServiceAccount cannot be false when requiredServiceAccountAnnotationKeys is set`);
  if (requiredAnnotations.some((key) => optionalAnnotations.includes(key)))
    throw new Error(`${where}: annotation keys cannot be both required and optional`);
  const account = { audience: serviceAccountTokenAudience, requiresAccount: requireServiceAccount, cacheType } as const;
  return { ...account, requiredAnnotations, optionalAnnotations };
}

function parseKeys(keys: unknown, where: string): readonly string[] {
  if (!isStringArray(keys)) throw new Error(`${where} must be a list of annotation keys`);
  for (const key of keys) {
    const [problem] = checkQualifiedName(key.toLowerCase());
    if (problem !== undefined) throw new Error(`${where}: ${JSON.stringify(key)}: ${problem}`);
    if (keys.indexOf(key) !== keys.lastIndexOf(key)) throw new Error(`${where}: ${JSON.stringify(key)} is listed twice`);
  }
  return keys;
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
