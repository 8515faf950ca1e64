import { spawn } from 'node:child_process';
import path from 'node:path';
import type { core } from '#api';
import { type Clock, Lru } from '#base';
import { parseDurationMs } from '#machinery';
import { Keyring, type KeyringEntry } from './keyring.ts';
import { type AccountSource, ANYONE, type ProviderCaller, providerCaller } from './provider-caller.ts';
import type { CredentialProviderSpec } from './provider-config.ts';
import { matchesImage } from './registry-pattern.ts';

export interface CredentialProviderOptions {
  readonly binDirectory: string;
  readonly clock: Clock;
  /** The kubelet's environment, inherited by the plugins. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** For plugins that are given tokens of service accounts. */
  readonly accounts: AccountSource;
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

  /** For an image of a pod. Undefined: the provider is not for pods of its service account. */
  async keyring(repository: string, pod: core.Pod): Promise<Keyring | undefined> {
    const { tokens } = this.#spec;
    const caller = tokens === undefined ? ANYONE : await providerCaller(pod, tokens, this.#options.accounts);
    if (caller === undefined) return undefined;
    const cached = this.#cached(repository, caller);
    if (cached !== undefined) return cached;
    // Concurrent lookups share one execution.
    const key = JSON.stringify([repository, caller.token, caller.annotations]);
    const running = this.#running.get(key) ?? this.#runPlugin(repository, caller).finally(() => this.#running.delete(key));
    this.#running.set(key, running);
    return running;
  }

  #cached(repository: string, { cacheKey }: ProviderCaller): Keyring | undefined {
    const now = this.#options.clock.monotonic();
    for (const key of [`Image ${repository}`, `Registry ${registryOf(repository)}`, 'Global']) {
      const cached = this.#cache.get(key + cacheKey);
      if (cached !== undefined && cached.until > now) return cached.keyring;
    }
    return undefined;
  }

  async #runPlugin(repository: string, caller: ProviderCaller): Promise<Keyring> {
    const { clock } = this.#options;
    const response = this.#parse(await this.#run(repository, caller));
    this.#checkPasswords(response, caller);
    const { account } = caller;
    const keyring = new Keyring(response.entries.map((entry) => ({ ...entry, ...(account && { serviceAccount: account }) })));
    const keys = { Image: `Image ${repository}`, Registry: `Registry ${registryOf(repository)}`, Global: 'Global' };
    const key = keys[response.cacheKeyType] + caller.cacheKey;
    if (response.cacheMs > 0) this.#cache.set(key, { keyring, until: clock.monotonic() + response.cacheMs });
    return keyring;
  }

  /** A token is the pod's own: what is cached for others must not hold it. */
  #checkPasswords({ entries }: ProviderResponse, { token }: ProviderCaller): void {
    const { tokens, name } = this.#spec;
    if (token === undefined || tokens?.cacheType === 'Token' || entries.every(({ auth }) => auth.password !== token)) return;
    throw new Error(`the credential provider ${name} returned the token as the password, which needs the cache type Token`);
  }

  #run(image: string, { token, annotations = {} }: ProviderCaller): Promise<string> {
    const { name, args, env, apiVersion } = this.#spec;
    const { binDirectory, environment, clock } = this.#options;
    const identity = {
      ...(token !== undefined && { serviceAccountToken: token }),
      ...(Object.keys(annotations).length > 0 && { serviceAccountAnnotations: annotations }),
    };
    const request = JSON.stringify({ kind: 'CredentialProviderRequest', apiVersion, image, ...identity });
    return new Promise((resolve, reject) => {
      const added = Object.fromEntries(env.map((variable) => [variable.name, variable.value]));
      const child = spawn(path.join(binDirectory, name), args, { env: { ...environment, ...added }, stdio: ['pipe', 'pipe', 'pipe'] });
      const [output, complaints] = [new LimitedText(), new LimitedText()];
      const fail = (detail: string) => {
        child.kill('SIGKILL');
        reject(new Error(`the credential provider ${name} ${detail}`));
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
    const invalid = (detail: string) => new Error(`the credential provider ${name} gave no valid response: ${detail}`);
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
