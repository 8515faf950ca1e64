import { createLocalJWKSet, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import { withoutTrailing } from '#base';
import { goQuote, isJsonObject, parseJson } from '#machinery';
import { fetchFromIssuer, type IssuerAccess } from './issuer-access.ts';

export interface IssuerKeysOptions extends IssuerAccess {
  /** The `iss` claim. */
  readonly issuer: string;
  /** The discovery URL. Default: below the issuer's URL. */
  readonly discoveryUrl?: string | undefined;
}

const MAX_KEYS = 100;
/** The minimum interval of refreshes: tokens can name arbitrary key ids. */
const MIN_REFRESH_MS = 1000;
/** The retry interval after a failure. */
const FAILURE_MS = 10_000;

/** An issuer's keys by OpenID Connect discovery, refreshed when a token names an unknown key. */
export class IssuerKeys {
  readonly #options: IssuerKeysOptions;
  #keys: Promise<JWTVerifyGetKey> | undefined;
  #askedAtMs = Number.NEGATIVE_INFINITY;
  #failure: { readonly error: unknown; readonly atMs: number } | undefined;

  constructor(options: IssuerKeysOptions) {
    this.#options = options;
  }

  /** The cached keys, if any. Rejects while the issuer is unreachable. */
  async current(): Promise<JWTVerifyGetKey> {
    const { clock } = this.#options;
    if (this.#failure !== undefined && clock.monotonic() - this.#failure.atMs < FAILURE_MS) throw this.#failure.error;
    this.#keys ??= this.#fetch();
    return this.#keys;
  }

  /** Refreshed keys; undefined when the last refresh was too recent. */
  async refreshed(): Promise<JWTVerifyGetKey | undefined> {
    if (this.#options.clock.monotonic() - this.#askedAtMs < MIN_REFRESH_MS) return undefined;
    const before = this.#keys;
    try {
      this.#keys = this.#fetch();
      return await this.#keys;
    } catch (error) {
      // A temporarily unreachable issuer does not invalidate its tokens.
      this.#keys = before;
      this.#failure = undefined;
      throw error;
    }
  }

  async #fetch(): Promise<JWTVerifyGetKey> {
    const { clock } = this.#options;
    this.#askedAtMs = clock.monotonic();
    try {
      const keys = createLocalJWKSet(await this.#keySet());
      this.#failure = undefined;
      return keys;
    } catch (error) {
      this.#keys = undefined;
      this.#failure = { error, atMs: clock.monotonic() };
      throw error;
    }
  }

  async #keySet(): Promise<JSONWebKeySet> {
    const { issuer, discoveryUrl } = this.#options;
    const document = await this.#getJson(discoveryUrl ?? `${withoutTrailing(issuer, '/')}/.well-known/openid-configuration`);
    if (document.issuer !== issuer)
      throw new Error(
        `oidc: issuer did not match the issuer returned by provider, expected ${goQuote(issuer)} got ${goQuote(String(document.issuer))}`,
      );
    const uri = document.jwks_uri;
    if (typeof uri !== 'string' || !uri.startsWith('https://')) throw new Error('oidc: provider did not return a JWKS URL of https');
    const { keys } = await this.#getJson(uri);
    if (!Array.isArray(keys) || keys.length > MAX_KEYS)
      throw new Error(`oidc: the key set of ${uri} is no list of at most ${MAX_KEYS} keys`);
    return { keys: keys.filter((key) => isJsonObject(key)) } as unknown as JSONWebKeySet;
  }

  async #getJson(url: string): Promise<Readonly<Record<string, unknown>>> {
    const text = await fetchFromIssuer(url, this.#options, { accept: 'application/json' });
    const { value } = parseJson(text);
    if (!isJsonObject(value)) throw new Error(`oidc: ${url} did not answer with an object`);
    return value;
  }
}
