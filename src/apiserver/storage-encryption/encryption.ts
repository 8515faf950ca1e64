import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Clock, Logger, MetricsRegistry, Random } from '#base';
import type { GroupResource } from '#machinery';
import type { Store } from '#store';
import { ReloadMetrics } from '../config-file/reload-metrics.ts';
import { aesCbc, aesGcm, secretbox } from './ciphers.ts';
import { type EncryptedStore, encryptedStore } from './encrypted-store.ts';
import {
  type EncryptionConfiguration,
  type NamedKey,
  type ProviderConfiguration,
  parseEncryptionConfiguration,
  parseGroupResource,
} from './encryption-configuration.ts';
import { KmsProvider } from './kms-provider.ts';
import { KmsService } from './kms-service.ts';
import { identity, type PrefixTransformer, prefixTransformers, type Transformer } from './transformer.ts';

export interface EncryptionConfig {
  /** The path of an EncryptionConfiguration, YAML or JSON. */
  readonly path: string;
  /** Whether the file is reloaded when it changes. */
  readonly reload: boolean;
}

export interface EncryptionDeps {
  /** Real time, for files and plugins. */
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricsRegistry;
  readonly apiServerId?: string | undefined;
}

/** Upstream's polling interval. */
const RELOAD_MS = 60_000;

const CIPHERS = { aesgcm: aesGcm, aescbc: aesCbc, secretbox } as const;

/** Encryption at rest, by an EncryptionConfiguration. */
export class Encryption {
  readonly #config: EncryptionConfig;
  readonly #deps: EncryptionDeps;
  readonly #metrics: ReloadMetrics;
  #current: Providers;

  /** Throws when the file is invalid. */
  constructor(config: EncryptionConfig, deps: EncryptionDeps) {
    this.#config = config;
    this.#deps = deps;
    const text = this.#read();
    this.#current = this.#load(text);
    this.#metrics = new ReloadMetrics('encryption', text, deps);
  }

  /** The current transformer of a resource. */
  transformerFor(resource: GroupResource): Transformer {
    return this.#current.transformerFor(resource);
  }

  /** The store with this resource's transformer. */
  storeFor(resource: GroupResource, store: Store): EncryptedStore {
    return encryptedStore(store, () => this.transformerFor(resource));
  }

  /** Throws while a KMS plugin is unhealthy. */
  check(): boolean {
    const problems = this.#current.kms.flatMap(({ name, problem }) => (problem === undefined ? [] : [`${name}: ${problem}`]));
    if (problems.length > 0) throw new Error(problems.join(', '));
    return true;
  }

  get usesKms(): boolean {
    return this.#config.reload || this.#current.kms.length > 0;
  }

  /** Resolves when every plugin was checked once, healthy or not. */
  async start(): Promise<void> {
    await this.#current.start();
  }

  /** Checks every plugin, and rotates the seed if its key has changed. */
  async checkPlugins(): Promise<void> {
    await Promise.all(this.#current.kms.map((provider) => provider.check()));
  }

  /** Follows the file until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#deps.clock.sleep(this.#config.reload ? RELOAD_MS : Number.POSITIVE_INFINITY, signal).catch(() => {});
      if (!signal.aborted) await this.reload();
    }
  }

  /** Closes the plugins. */
  async stop(): Promise<void> {
    await this.#current.stop();
  }

  /** Reloads a changed file. An invalid one is logged, and the previous one stays in use. */
  async reload(): Promise<void> {
    const { logger } = this.#deps;
    try {
      const text = this.#read();
      if (hashOf(text) === this.#current.hash) return;
      const next = this.#load(text);
      await next.start();
      const previous = this.#current;
      this.#current = next;
      await previous.stop();
      this.#metrics.succeeded(text);
      logger.info('the encryption configuration was reloaded', { path: this.#config.path });
    } catch (error) {
      this.#metrics.failed();
      logger.error('the encryption configuration is invalid; keeping the previous one', { error });
    }
  }

  #read(): string {
    try {
      return readFileSync(this.#config.path, 'utf8');
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
      throw new Error(`error reading encryption provider configuration file "${this.#config.path}" (${code})`, { cause: error });
    }
  }

  #load(text: string): Providers {
    return new Providers(parseEncryptionConfiguration(text, this.#config.path), { hash: hashOf(text), deps: this.#deps });
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** The providers of one version of the file. */
class Providers {
  readonly hash: string;
  readonly kms: KmsProvider[] = [];
  readonly #deps: EncryptionDeps;
  readonly #transformers: ReadonlyMap<string, Transformer>;
  readonly #services: KmsService[] = [];
  readonly #stop = new AbortController();
  #running: Promise<unknown> | undefined;

  constructor({ resources }: EncryptionConfiguration, { hash, deps }: { readonly hash: string; readonly deps: EncryptionDeps }) {
    this.hash = hash;
    this.#deps = deps;
    const byResource = new Map<string, PrefixTransformer[]>();
    for (const entry of resources) {
      const providers = entry.providers.map((provider) => this.#provider(provider));
      for (const name of entry.resources) {
        checkUnmasked(name, byResource);
        byResource.set(keyOf(parseGroupResource(name)), [...(byResource.get(keyOf(parseGroupResource(name))) ?? []), ...providers]);
      }
    }
    this.#transformers = new Map([...byResource].map(([key, list]) => [key, prefixTransformers('no matching prefix found', list)]));
  }

  /** Identity for resources that are not configured. */
  transformerFor({ group, resource }: GroupResource): Transformer {
    const find = (key: GroupResource) => this.#transformers.get(keyOf(key));
    return find({ group, resource }) ?? find({ group, resource: '*' }) ?? find({ group: '*', resource: '*' }) ?? identity;
  }

  async start(): Promise<void> {
    await Promise.all(this.kms.map((provider) => provider.check(this.#stop.signal)));
    this.#running = Promise.all(this.kms.map((provider) => provider.run(this.#stop.signal)));
  }

  async stop(): Promise<void> {
    this.#stop.abort(new DOMException('the encryption configuration is not used any more', 'AbortError'));
    await this.#running;
    for (const service of this.#services) service[Symbol.dispose]();
  }

  #provider(provider: ProviderConfiguration): PrefixTransformer {
    switch (provider.type) {
      case 'identity':
        return { prefix: Buffer.alloc(0), transformer: identity };
      case 'kms':
        return this.#kms(provider);
      default:
        return { prefix: Buffer.from(`k8s:enc:${provider.type}:v1:`), transformer: keyed(provider.type, provider.keys) };
    }
  }

  #kms({ name, endpoint, timeoutMs }: ProviderConfiguration & { readonly type: 'kms' }): PrefixTransformer {
    const service = new KmsService(endpoint, timeoutMs, this.#deps.clock);
    const provider = new KmsProvider(name, { ...this.#deps, service });
    this.#services.push(service);
    this.kms.push(provider);
    return { prefix: Buffer.from(`k8s:enc:kms:v2:${name}:`), transformer: provider };
  }
}

function keyed(type: keyof typeof CIPHERS, keys: readonly NamedKey[]): Transformer {
  const unmatched = `no matching key was found for the provided ${type === 'secretbox' ? 'Secretbox' : 'AES'} transformer`;
  const transformers = keys.map(({ name, secret }) => ({ prefix: Buffer.from(`${name}:`), transformer: CIPHERS[type](secret) }));
  return prefixTransformers(unmatched, transformers);
}

/** A rule masked by an earlier wildcard is an error. */
function checkUnmasked(name: string, earlier: ReadonlyMap<string, unknown>): void {
  const { group } = parseGroupResource(name);
  for (const mask of [
    { group, resource: '*' },
    { group: '*', resource: '*' },
  ]) {
    if (earlier.has(keyOf(mask)) && keyOf(mask) !== keyOf(parseGroupResource(name)))
      throw new Error(`resource "${name}" is masked by earlier rule "${mask.resource}.${mask.group}"`);
  }
}

function keyOf({ group, resource }: GroupResource): string {
  return `${resource}.${group}`;
}
