import { pushAll } from '#base';
import {
  FieldError,
  type Fields,
  fieldsOfKind,
  type GroupResource,
  goQuote,
  isJsonObject,
  Path,
  parseYaml,
  StrictConfigurationReader,
} from '#machinery';

/** A validated EncryptionConfiguration. */
export interface EncryptionConfiguration {
  readonly resources: readonly ResourceConfiguration[];
}

export interface ResourceConfiguration {
  /** `secrets`, `deployments.apps`, `*.apps`, `*.` for the core group, `*.*`. */
  readonly resources: readonly string[];
  readonly providers: readonly ProviderConfiguration[];
}

export type ProviderConfiguration =
  | { readonly type: 'identity' }
  | { readonly type: 'aesgcm' | 'aescbc' | 'secretbox'; readonly keys: readonly NamedKey[] }
  | { readonly type: 'kms'; readonly name: string; readonly endpoint: string; readonly timeoutMs: number };

export interface NamedKey {
  readonly name: string;
  readonly secret: Buffer;
}

const VERSIONS = ['apiserver.config.k8s.io/v1'];
const PROVIDERS = ['kms', 'aesgcm', 'aescbc', 'secretbox', 'identity'] as const;
const KEY_SIZES = { aesgcm: [16, 24, 32], aescbc: [16, 24, 32], secretbox: [32] } as const;
const UNSTORED = ['apiserveripinfo', 'serviceipallocations', 'servicenodeportallocations'];
const KMS_TIMEOUT_MS = 3000;

/** Throws with upstream's messages, which never contain secrets. */
export function parseEncryptionConfiguration(text: string, file: string): EncryptionConfiguration {
  try {
    return readConfiguration(text);
  } catch (error) {
    throw new Error(`error decoding encryption provider configuration file ${goQuote(file)}: ${(error as Error).message}`);
  }
}

function readConfiguration(text: string): EncryptionConfiguration {
  if (text.trim() === '') throw new Error('the file is empty');
  const { value } = parseYaml(Buffer.from(text));
  if (!isJsonObject(value)) throw new Error("Object 'Kind' is missing");
  const reader = new EncryptionReader();
  const configuration = reader.configuration(fieldsOfKind(value, 'EncryptionConfiguration', VERSIONS));
  reader.throwIfInvalid();
  return configuration;
}

class EncryptionReader extends StrictConfigurationReader {
  readonly #kmsNames = new Set<string>();

  configuration(fields: Fields): EncryptionConfiguration {
    this.rejectUnknownFields(fields, ['apiVersion', 'kind', 'resources'], '');
    const root = Path.of('resources');
    const entries = this.list(fields.resources, 'resources');
    if (entries.length === 0) this.errors.push(FieldError.required(root, 'at least one resources is required'));
    return { resources: entries.map((entry, i) => this.#resource(this.object(entry, `resources[${i}]`), root.index(i))) };
  }

  #resource(fields: Fields, path: Path): ResourceConfiguration {
    this.rejectUnknownFields(fields, ['resources', 'providers'], String(path));
    const names = this.list(fields.resources, `${path}.resources`).map((name, i) => this.text(name, `${path}.resources[${i}]`, ''));
    const providers = this.list(fields.providers, `${path}.providers`);
    pushAll(this.errors, resourceErrors(names, path.child('resources')));
    if (providers.length === 0) this.#require(path.child('providers'));
    return { resources: names, providers: providers.flatMap((provider, i) => this.#provider(provider, path.child('providers').index(i))) };
  }

  #require(path: Path): void {
    this.errors.push(FieldError.required(path, `at least one ${path} is required`));
  }

  #provider(value: unknown, path: Path): readonly ProviderConfiguration[] {
    const fields = this.object(value, String(path));
    this.rejectUnknownFields(fields, PROVIDERS, String(path));
    const providers = PROVIDERS.filter((name) => fields[name] !== undefined && fields[name] !== null);
    const [type] = providers;
    const none = 'provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity';
    const several = 'more than one provider specified in a single element, should split into different list elements';
    if (type === undefined || providers.length > 1) {
      this.errors.push(FieldError.invalid(path, 'REDACTED', type === undefined ? none : several));
      return [];
    }
    const own = this.object(fields[type], `${path}.${type}`);
    if (type === 'identity') return [{ type }];
    return type === 'kms' ? this.#kms(own, path.child('kms')) : [{ type, keys: this.#keys(own, path.child(type), KEY_SIZES[type]) }];
  }

  #keys(fields: Fields, path: Path, sizes: readonly number[]): readonly NamedKey[] {
    this.rejectUnknownFields(fields, ['keys'], String(path));
    const keys = this.list(fields.keys, `${path}.keys`);
    if (keys.length === 0) this.errors.push(FieldError.required(path.child('keys'), 'at least one keys is required'));
    return keys.map((key, i) => this.#key(this.object(key, `${path}.keys[${i}]`), path.child('keys').index(i), sizes));
  }

  #key(fields: Fields, path: Path, sizes: readonly number[]): NamedKey {
    this.rejectUnknownFields(fields, ['name', 'secret'], String(path));
    const name = this.text(fields.name, `${path}.name`, '');
    const text = this.text(fields.secret, `${path}.secret`, '');
    if (name === '') this.errors.push(FieldError.required(path.child('name'), 'name is a mandatory field for a key'));
    const secret = Buffer.from(text, 'base64');
    const problem = secretProblem(text, secret, sizes);
    if (text === '') this.errors.push(FieldError.required(path.child('secret'), 'secret is a mandatory field for a key'));
    else if (problem !== undefined) this.errors.push(FieldError.invalid(path.child('secret'), 'REDACTED', problem));
    return { name, secret };
  }

  #kms(fields: Fields, path: Path): readonly ProviderConfiguration[] {
    this.rejectUnknownFields(fields, ['apiVersion', 'name', 'endpoint', 'timeout', 'cachesize'], String(path));
    const name = this.text(fields.name, `${path}.name`, '');
    const endpoint = this.text(fields.endpoint, `${path}.endpoint`, '');
    const apiVersion = this.text(fields.apiVersion, `${path}.apiVersion`, 'v1');
    const timeoutMs = this.duration(fields.timeout, `${path}.timeout`, KMS_TIMEOUT_MS);
    pushAll(this.errors, kmsErrors({ name, endpoint, apiVersion, timeoutMs, cachesize: fields.cachesize }, path, this.#kmsNames));
    this.#kmsNames.add(name);
    return [{ type: 'kms', name, endpoint, timeoutMs }];
  }
}

function secretProblem(text: string, secret: Buffer, sizes: readonly number[]): string | undefined {
  if (secret.toString('base64') !== text.trim()) return 'secrets must be base64 encoded';
  if (sizes.includes(secret.length)) return undefined;
  return `secret is not of the expected length, got ${secret.length}, expected one of [${sizes.join(' ')}]`;
}

interface KmsFields {
  readonly name: string;
  readonly endpoint: string;
  readonly apiVersion: string;
  readonly timeoutMs: number;
  readonly cachesize: unknown;
}

function kmsErrors(fields: KmsFields, path: Path, names: ReadonlySet<string>): readonly FieldError[] {
  const { name, endpoint, apiVersion, timeoutMs, cachesize } = fields;
  const errors: FieldError[] = [];
  const invalid = (member: string, value: unknown, detail: string) => errors.push(FieldError.invalid(path.child(member), value, detail));
  if (name === '') errors.push(FieldError.required(path.child('name'), 'name is a mandatory field for a provider'));
  if (name.includes(':')) invalid('name', name, `invalid KMS provider name ${name}, must not contain ':'`);
  if (names.has(name)) invalid('name', name, `duplicate KMS provider name ${name}, names must be unique`);
  if (timeoutMs <= 0) invalid('timeout', `${timeoutMs}ms`, 'timeout should be a positive value');
  if (endpoint === '') invalid('endpoint', '', 'endpoint is a mandatory field for a kms');
  else if (!/^unix:\/\/\//.test(endpoint)) {
    const scheme = endpoint.includes(':') ? endpoint.slice(0, endpoint.indexOf(':')) : '';
    invalid('endpoint', endpoint, `unsupported scheme ${goQuote(scheme)} for KMS provider, only unix is supported`);
  }
  if (apiVersion === 'v2' && cachesize !== undefined) invalid('cachesize', cachesize, 'cachesize is not supported in v2');
  if (apiVersion === 'v1') invalid('apiVersion', apiVersion, 'KMSv1 is deprecated and switched off. Use KMSv2 instead');
  else if (apiVersion !== 'v2')
    invalid('apiVersion', apiVersion, `unsupported apiVersion ${apiVersion} for KMS provider, only v1 and v2 are supported`);
  return errors;
}

/** `deployments.apps`: the group follows the first dot. */
export function parseGroupResource(text: string): GroupResource {
  const dot = text.indexOf('.');
  return dot < 0 ? { group: '', resource: text } : { group: text.slice(dot + 1), resource: text.slice(0, dot) };
}

function resourceErrors(names: readonly string[], path: Path): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (names.length === 0) errors.push(FieldError.required(path, `at least one ${path} is required`));
  if (new Set(names).size < names.length)
    errors.push(FieldError.invalid(path, names, 'the same resource cannot be specified multiple times'));
  const overlap = "using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked";
  if (hasOverlap(names.map(parseGroupResource))) errors.push(FieldError.invalid(path, names, overlap));
  names.forEach((name, i) => {
    const problem = nameProblem(name);
    if (problem !== undefined) errors.push(FieldError.invalid(path.index(i), name, problem));
  });
  return errors;
}

function hasOverlap(resources: readonly GroupResource[]): boolean {
  if (resources.length < 2) return false;
  if (resources.some(({ group, resource }) => group === '*' && resource === '*')) return true;
  return resources.some(
    ({ group, resource }, i) =>
      resource === '*' && resources.some((other, j) => i !== j && other.group === group && other.resource !== '*'),
  );
}

function nameProblem(name: string): string | undefined {
  const { group, resource } = parseGroupResource(name);
  if (/[A-Z]/.test(name)) return 'resource name should not contain capital letters';
  if (name === '*') return "use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources";
  if (UNSTORED.includes(name)) return 'resources which do not have REST API/s cannot be encrypted';
  if (group === 'events.k8s.io')
    return "'*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use 'events' instead in the config file";
  if (group === 'extensions') return "'extensions' group has been removed and cannot be used for encryption";
  return group === '*' && resource !== '*' ? 'encrypting the same resource across groups is not supported' : undefined;
}
