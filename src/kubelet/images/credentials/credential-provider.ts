import { spawn } from 'node:child_process';
import path from 'node:path';
import { type Clock, Lru } from '#base';
import { parseDurationMs } from '#machinery';
import { Keyring, type KeyringEntry } from './keyring.ts';
import type { CredentialProviderSpec } from './provider-config.ts';
import { matchesImage } from './registry-pattern.ts';

export interface CredentialProviderOptions {
  readonly binDirectory: string;
  readonly clock: Clock;
  /** The kubelet's environment, inherited by the plugins. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

const TIMEOUT_MS = 60_000;
const MAX_OUTPUT_BYTES = 1 << 20;
const MAX_CACHED = 1_000;

interface CacheEntry {
  readonly keyring: Keyring;
  readonly until: number;
}

interface ProviderResponse {
  readonly entries: readonly KeyringEntry[];
  readonly cacheKeyType: 'Image' | 'Registry' | 'Global';
  readonly cacheMs: number;
}

/** A credential provider plugin. Responses are cached as they specify. */
export class CredentialProvider {
  readonly #spec: CredentialProviderSpec;
  readonly #options: CredentialProviderOptions;
  readonly #cache = new Lru<string, CacheEntry>({ capacity: MAX_CACHED });
  readonly #running = new Map<string, Promise<Keyring>>();

  constructor(spec: CredentialProviderSpec, options: CredentialProviderOptions) {
    this.#spec = spec;
    this.#options = options;
  }

  get name(): string {
    return this.#spec.name;
  }

  provides(repository: string): boolean {
    return this.#spec.matchImages.some((pattern) => matchesImage(pattern, repository));
  }

  async keyring(repository: string): Promise<Keyring> {
    const cached = this.#cached(repository);
    if (cached !== undefined) return cached;
    // Concurrent lookups share one execution.
    const running = this.#running.get(repository) ?? this.#runPlugin(repository).finally(() => this.#running.delete(repository));
    this.#running.set(repository, running);
    return running;
  }

  #cached(repository: string): Keyring | undefined {
    const now = this.#options.clock.monotonic();
    for (const key of [`Image ${repository}`, `Registry ${registryOf(repository)}`, 'Global']) {
      const cached = this.#cache.get(key);
      if (cached !== undefined && cached.until > now) return cached.keyring;
    }
    return undefined;
  }

  async #runPlugin(repository: string): Promise<Keyring> {
    const { clock } = this.#options;
    const response = this.#parse(await this.#run(repository));
    const keyring = new Keyring(response.entries);
    const keys = { Image: `Image ${repository}`, Registry: `Registry ${registryOf(repository)}`, Global: 'Global' };
    if (response.cacheMs > 0) this.#cache.set(keys[response.cacheKeyType], { keyring, until: clock.monotonic() + response.cacheMs });
    return keyring;
  }

  #run(image: string): Promise<string> {
    const { name, args, env, apiVersion } = this.#spec;
    const { binDirectory, environment, clock } = this.#options;
    const request = JSON.stringify({ kind: 'CredentialProviderRequest', apiVersion, image });
    return new Promise((resolve, reject) => {
      const added = Object.fromEntries(env.map((variable) => [variable.name, variable.value]));
      const child = spawn(path.join(binDirectory, name), args, { env: { ...environment, ...added }, stdio: ['pipe', 'pipe', 'pipe'] });
      const [output, complaints] = [new LimitedText(), new LimitedText()];
      const fail = (why: string) => {
        child.kill('SIGKILL');
        reject(new Error(`the credential provider ${name} ${why}`));
      };
      const timer = clock.setTimer(TIMEOUT_MS, () => fail('did not answer within a minute'));
      child.on('error', (error) => fail(`could not be started: ${error.message}`));
      child.stdout.on('data', (chunk: Buffer) => output.add(chunk) || fail('wrote too much'));
      child.stderr.on('data', (chunk: Buffer) => complaints.add(chunk));
      // A plugin that exits without reading stdin is judged by its exit code.
      child.stdin.on('error', () => {});
      child.stdin.end(request);
      child.on('close', (code, signal) => {
        timer.cancel();
        if (code === 0) resolve(output.text);
        else fail(`failed (${code ?? signal}): ${complaints.text.trim().slice(0, 1_000)}`);
      });
    });
  }

  #parse(text: string): ProviderResponse {
    const { apiVersion, name, defaultCacheMs } = this.#spec;
    const invalid = (why: string) => new Error(`the credential provider ${name} gave no valid response: ${why}`);
    const response = parseJson(text);
    if (response?.kind !== 'CredentialProviderResponse' || response.apiVersion !== apiVersion)
      throw invalid(`not a CredentialProviderResponse of ${apiVersion}`);
    const { cacheKeyType, cacheDuration, auth } = response;
    if (cacheKeyType !== 'Image' && cacheKeyType !== 'Registry' && cacheKeyType !== 'Global')
      throw invalid('cacheKeyType must be Image, Registry or Global');
    const entries = Object.entries((auth ?? {}) as Record<string, { username?: unknown; password?: unknown } | null>).map(
      ([pattern, credentials]) => ({
        pattern,
        auth: { username: String(credentials?.username ?? ''), password: String(credentials?.password ?? '') },
      }),
    );
    return { entries, cacheKeyType, cacheMs: typeof cacheDuration === 'string' ? parseDurationMs(cacheDuration) : defaultCacheMs };
  }
}

function parseJson(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function registryOf(repository: string): string {
  return repository.slice(0, Math.max(repository.indexOf('/'), 0)) || repository;
}

class LimitedText {
  readonly #parts: Buffer[] = [];
  #length = 0;

  /** False when the limit is exceeded; the chunk is dropped. */
  add(chunk: Buffer): boolean {
    if (this.#length + chunk.length > MAX_OUTPUT_BYTES) return false;
    this.#length += chunk.length;
    this.#parts.push(chunk);
    return true;
  }

  get text(): string {
    return Buffer.concat(this.#parts).toString('utf8');
  }
}
