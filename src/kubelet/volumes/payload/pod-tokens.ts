import { type authentication, core } from '#api';
import type { Clock, Random } from '#base';
import type { Client } from '#client';
import { parseTime } from '#machinery';

export interface PodTokensDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
}

export interface PodToken {
  readonly token: string;
  readonly expiresAtMs: number;
  /** When to request the next one. */
  readonly refreshAtMs: number;
}

export interface TokenSpec {
  readonly audience: string;
  readonly expirationSeconds: number;
  /** The uid of the service account; absent: that of its name. */
  readonly accountUid?: string;
}

const MAX_AGE_MS = 24 * 3_600_000;
const JITTER_MS = 10_000;
const REFRESH_AT = 0.8;

/** Service account tokens of pods, cached and refreshed after 80 % of their lifetime, or a day. */
export class PodTokens {
  readonly #tokens = new Map<string, Map<string, PodToken>>();

  constructor(private readonly deps: PodTokensDeps) {}

  /** A token bound to the pod. Rejects with the API's error; while the previous token is valid it is used instead. */
  async get(pod: core.Pod, request: TokenSpec): Promise<PodToken> {
    const uid = pod.metadata.uid ?? '';
    const key = `${request.audience}\n${request.expirationSeconds}\n${request.accountUid ?? ''}`;
    const current = this.#tokens.get(uid)?.get(key);
    const now = this.deps.clock.now();
    if (current !== undefined && now < current.refreshAtMs) return current;
    try {
      const token = await this.#request(pod, request);
      const tokens = this.#tokens.get(uid) ?? new Map<string, PodToken>();
      this.#tokens.set(uid, tokens.set(key, token));
      return token;
    } catch (error) {
      if (current !== undefined && now < current.expiresAtMs) return { ...current, refreshAtMs: now + JITTER_MS };
      throw new Error(`failed to fetch token: ${(error as Error).message}`, { cause: error });
    }
  }

  release(podUid: string): void {
    this.#tokens.delete(podUid);
  }

  async #request(pod: core.Pod, { audience, expirationSeconds, accountUid }: TokenSpec): Promise<PodToken> {
    const { name, namespace, uid } = pod.metadata;
    const spec = {
      audiences: audience === '' ? [] : [audience],
      expirationSeconds,
      boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid },
    };
    const accounts = this.deps.client.of(core.ServiceAccount).subresource<authentication.TokenRequest>('token');
    const account = pod.spec?.serviceAccountName || 'default';
    const issuedAt = this.deps.clock.now();
    const body = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      ...(accountUid && { metadata: { uid: accountUid } }),
      spec,
    };
    const { status } = await accounts.create({ name: account, namespace }, body);
    if (!status?.token) throw new Error('the server gave no token');
    const { token, expirationTimestamp } = status;
    const expiresAtMs = expirationTimestamp ? parseTime(expirationTimestamp) : issuedAt + expirationSeconds * 1000;
    const lifetime = Math.min((expiresAtMs - issuedAt) * REFRESH_AT, MAX_AGE_MS);
    return { token, expiresAtMs, refreshAtMs: issuedAt + lifetime - this.deps.random.float() * JITTER_MS };
  }
}
