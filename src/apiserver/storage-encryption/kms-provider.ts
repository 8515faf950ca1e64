import { createHash, randomBytes } from 'node:crypto';
import { type Clock, type Logger, Lru, type Random } from '#base';
import { formatTime } from '#machinery';
import { aesGcm, extendedNonceGcm, SEED_BYTES } from './ciphers.ts';
import { EncryptedObject, type KmsAnnotations, type KmsEncrypted, type KmsService } from './kms-service.ts';
import type { DecryptedValue, Transformer } from './transformer.ts';

/** How the key of a value is derived from `encryptedDEKSource`. */
const DEK_SOURCE = { aesGcmKey: 0, hkdfSeed: 1 } as const;
const MAX_KEY_ID_BYTES = 1024;
const MAX_DEK_SOURCE_BYTES = 1024;
const MAX_ANNOTATION_BYTES = 32 * 1024;
/** As upstream: the status is polled every minute, every ten seconds while unhealthy, and a seed is used for at most three minutes without a check. */
const HEALTHY_INTERVAL_MS = 60_000;
const UNHEALTHY_INTERVAL_MS = 10_000;
const SEED_TTL_MS = 180_000;
/** The cache limit: one seed per server start and plugin key. */
const KEPT_SEEDS = 10_000;

export interface KmsProviderDeps {
  readonly service: KmsService;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** The current seed. */
interface WriteState {
  readonly encrypted: KmsEncrypted;
  readonly transformer: Transformer;
  readonly expiresAtMs: number;
}

/** Envelope encryption with a KMS v2 plugin: it encrypts the seed, from which the values' keys are derived. */
export class KmsProvider implements Transformer {
  readonly #seeds = new Lru<string, Transformer>({ capacity: KEPT_SEEDS });
  readonly #deps: KmsProviderDeps;
  #state: WriteState | undefined;
  #problem: string | undefined = 'the plugin was not asked yet';
  #version = '';

  constructor(
    readonly name: string,
    deps: KmsProviderDeps,
  ) {
    this.#deps = deps;
  }

  /** Why it is unhealthy; undefined when it is healthy. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Polls the plugin until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const waitMs = this.#problem === undefined ? HEALTHY_INTERVAL_MS : UNHEALTHY_INTERVAL_MS;
      await this.#deps.clock.sleep(waitMs, signal).catch(() => {});
      if (!signal.aborted) await this.check(signal);
    }
  }

  /** Checks the plugin, and rotates the seed if its key has changed. */
  async check(signal?: AbortSignal): Promise<void> {
    const before = this.#problem;
    try {
      await this.#follow(await this.#deps.service.status(signal));
      this.#problem = undefined;
    } catch (error) {
      this.#problem = (error as Error).message;
      if (signal?.aborted !== true && before !== this.#problem)
        this.#deps.logger.error('the KMS plugin is unhealthy', { provider: this.name, error });
    }
  }

  async #follow({ healthz, version, keyId }: { healthz: string; version: string; keyId: string }): Promise<void> {
    if (healthz !== 'ok') throw new Error(`got unexpected healthz status: ${healthz}`);
    if (version !== 'v2' && version !== 'v2beta1') throw new Error(`expected KMSv2 API version v2, got ${version}`);
    if (this.#version !== '' && this.#version !== version)
      throw new Error(`KMSv2 API version should not change after the initial status response version ${this.#version}, got ${version}`);
    this.#version = version;
    checkKeyId(keyId);
    const expiresAtMs = this.#deps.clock.now() + SEED_TTL_MS;
    if (this.#state?.encrypted.keyId === keyId) this.#state = { ...this.#state, expiresAtMs };
    else this.#state = await this.#newSeed(keyId, expiresAtMs);
  }

  async #newSeed(keyId: string, expiresAtMs: number): Promise<WriteState> {
    const seed = randomBytes(SEED_BYTES);
    const encrypted = await this.#deps.service.encrypt(seed, this.#deps.random.uuid());
    checkEncrypted(encrypted);
    if (encrypted.keyId !== keyId)
      throw new Error(`the plugin's status names key ${hashOf(keyId)}, but it encrypted with ${hashOf(encrypted.keyId)}`);
    const transformer = extendedNonceGcm(seed);
    this.#seeds.set(seedKey(encrypted, DEK_SOURCE.hkdfSeed), transformer);
    return { encrypted, transformer, expiresAtMs };
  }

  encrypt(plain: Buffer, place: string): Buffer {
    const state = this.#state;
    if (state === undefined) throw new Error(`the KMS provider ${this.name} is not ready: ${this.#problem}`);
    const { encrypted, transformer, expiresAtMs } = state;
    if (this.#deps.clock.now() > expiresAtMs)
      throw new Error(`the seed of KMS provider ${this.name} expired at ${formatTime(expiresAtMs)}: ${this.#problem}`);
    return EncryptedObject.encode({
      encryptedData: transformer.encrypt(plain, place),
      keyId: encrypted.keyId,
      encryptedDekSource: encrypted.ciphertext,
      annotations: encrypted.annotations,
      encryptedDekSourceType: DEK_SOURCE.hkdfSeed,
    });
  }

  decrypt(stored: Buffer, place: string): DecryptedValue | Promise<DecryptedValue> {
    const { encryptedData, keyId, encryptedDekSource, annotations, encryptedDekSourceType: type } = EncryptedObject.decode(stored);
    if (encryptedData.length === 0) throw new Error('encrypted data is empty');
    const source = { keyId, ciphertext: encryptedDekSource, annotations };
    checkEncrypted(source);
    const open = (transformer: Transformer): DecryptedValue => {
      const { bytes } = transformer.decrypt(Buffer.from(encryptedData), place) as DecryptedValue;
      return { bytes, isStale: keyId !== this.#state?.encrypted.keyId || type !== DEK_SOURCE.hkdfSeed };
    };
    const seed = this.#seeds.get(seedKey(source, type));
    return seed === undefined ? this.#fetchSeed(source, type).then(open) : open(seed);
  }

  async #fetchSeed(source: KmsEncrypted, type: number): Promise<Transformer> {
    const key = await this.#deps.service.decrypt(source, this.#deps.random.uuid()).catch((error: unknown) => {
      throw new Error(`failed to decrypt DEK, error: ${(error as Error).message}`, { cause: error });
    });
    const transformer = transformerFor(type, Buffer.from(key));
    this.#seeds.set(seedKey(source, type), transformer);
    return transformer;
  }
}

function transformerFor(type: number, key: Buffer): Transformer {
  if (type === DEK_SOURCE.hkdfSeed) return extendedNonceGcm(key);
  if (type === DEK_SOURCE.aesGcmKey) return aesGcm(key);
  throw new Error(`unknown encryptedDEKSourceType: ${type}`);
}

function seedKey({ keyId, ciphertext, annotations }: KmsEncrypted, type: number): string {
  const hash = createHash('sha256').update(`${type} ${keyId.length} ${keyId} `).update(ciphertext);
  for (const { key, value } of annotations.toSorted((a, b) => (a.key < b.key ? -1 : 1)))
    hash.update(` ${key.length} ${key} ${value.length} `).update(value);
  return hash.digest('base64');
}

function checkEncrypted({ keyId, ciphertext, annotations }: KmsEncrypted): void {
  checkKeyId(keyId);
  if (ciphertext.length === 0) throw new Error('failed to validate encrypted DEK source: encrypted DEK source is empty');
  if (ciphertext.length > MAX_DEK_SOURCE_BYTES)
    throw new Error(`encrypted DEK source is ${ciphertext.length} bytes, which exceeds the max size of ${MAX_DEK_SOURCE_BYTES}`);
  checkAnnotations(annotations);
}

function checkKeyId(keyId: string): void {
  if (keyId === '') throw new Error('keyID is empty');
  if (Buffer.byteLength(keyId) > MAX_KEY_ID_BYTES)
    throw new Error(`keyID is ${Buffer.byteLength(keyId)} bytes, which exceeds the max size of ${MAX_KEY_ID_BYTES}`);
}

function checkAnnotations(annotations: KmsAnnotations): void {
  const size = annotations.reduce((sum, { key, value }) => sum + Buffer.byteLength(key) + value.length, 0);
  if (size > MAX_ANNOTATION_BYTES)
    throw new Error(`total size of annotations is ${size}, which exceeds the max size of ${MAX_ANNOTATION_BYTES}`);
}

function hashOf(keyId: string): string {
  return `sha256:${createHash('sha256').update(keyId).digest('hex')}`;
}
