import { createHmac, randomBytes } from 'node:crypto';
import { type Clock, Lru, type Random } from '#base';
import { isJsonObject } from '#machinery';
import type { UserInfo } from '../request/user.ts';
import type { KubeconfigWebhook } from '../webhook-client/kubeconfig-webhook.ts';
import { postRetried } from '../webhook-client/retried-post.ts';
import type { TokenAuthenticator, TokenResponse } from './authenticator.ts';

export interface WebhookTokensConfig {
  readonly version: 'v1' | 'v1beta1';
  /** The cache TTL. */
  readonly cacheTtlMs: number;
}

export interface WebhookTokensDeps {
  readonly webhook: Pick<KubeconfigWebhook, 'post'>;
  readonly clock: Clock;
  readonly random: Random;
}

const TIMEOUT_MS = 30_000;
const REMEMBERED_TOKENS = 4096;

/** Tokens that a webhook authenticates. */
export class WebhookTokens implements TokenAuthenticator {
  readonly #config: WebhookTokensConfig;
  readonly #deps: WebhookTokensDeps;
  /** Includes rejections; errors are not cached. */
  readonly #cache: Lru<string, TokenResponse | undefined>;
  readonly #pending = new Map<string, Promise<TokenResponse | undefined>>();
  /** Cache keys are HMACs: tokens are not stored. */
  readonly #cacheKey = randomBytes(32);

  constructor(config: WebhookTokensConfig, deps: WebhookTokensDeps) {
    this.#config = config;
    this.#deps = deps;
    this.#cache = new Lru({ capacity: REMEMBERED_TOKENS, ttlMs: config.cacheTtlMs, clock: deps.clock });
  }

  authenticateToken(token: string, audiences: readonly string[]): TokenResponse | undefined | Promise<TokenResponse | undefined> {
    const key = createHmac('sha256', this.#cacheKey)
      .update(JSON.stringify([token, audiences]))
      .digest('base64');
    if (this.#cache.has(key)) return this.#cache.get(key);
    const pending = this.#pending.get(key) ?? this.#postReview(key, token, audiences);
    this.#pending.set(key, pending);
    return pending;
  }

  async #postReview(key: string, token: string, audiences: readonly string[]): Promise<TokenResponse | undefined> {
    try {
      const review = {
        apiVersion: `authentication.k8s.io/${this.#config.version}`,
        kind: 'TokenReview',
        metadata: {},
        spec: { token, ...(audiences.length > 0 && { audiences }) },
      };
      const response = tokenResponseOf(await postRetried(review, this.#deps, TIMEOUT_MS), audiences);
      this.#cache.set(key, response);
      return response;
    } finally {
      this.#pending.delete(key);
    }
  }
}

function tokenResponseOf(answer: unknown, requested: readonly string[]): TokenResponse | undefined {
  const status = isJsonObject(answer as never) ? (answer as { status?: unknown }).status : undefined;
  if (!isJsonObject(status as never)) throw new Error('the token webhook answered without a status');
  const { authenticated, user, error, audiences } = status as Readonly<Record<string, unknown>>;
  if (authenticated !== true) {
    if (typeof error === 'string' && error !== '') throw new Error(error);
    return undefined;
  }
  const named = strings(audiences).filter((audience) => requested.includes(audience));
  return { user: userOf(user), ...(strings(audiences).length > 0 && { audiences: named }) };
}

function userOf(value: unknown): UserInfo {
  const { username, uid, groups, extra } = (isJsonObject(value as never) ? value : {}) as Readonly<Record<string, unknown>>;
  if (typeof username !== 'string' || username === '') throw new Error('the token webhook answered without a username');
  if (extra !== undefined && extra !== null && !isJsonObject(extra as never))
    throw new Error('the token webhook answered with extra that is no map');
  const entries = Object.entries(extra ?? {}).map(([key, values]) => [key, strings(values)]);
  return {
    name: username,
    ...(typeof uid === 'string' && uid !== '' && { uid }),
    groups: strings(groups),
    ...(entries.length > 0 && { extra: Object.fromEntries(entries) as Record<string, string[]> }),
  };
}

/** Anything but a list of strings is an invalid response, as upstream. */
function strings(value: unknown): readonly string[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || value.some((item) => typeof item !== 'string'))
    throw new Error('the token webhook answered with no list of strings');
  return value as readonly string[];
}
