import { compactVerify, errors, type JWTVerifyGetKey } from 'jose';
import { type Clock, Lru } from '#base';
import { goQuote } from '#machinery';
import type { EgressSelector } from '../../egress/egress-selector.ts';
import type { UserInfo } from '../../request/user.ts';
import type { TokenAuthenticator, TokenResponse } from '../authenticator.ts';
import { claimedIssuer } from '../service-accounts/signed-tokens.ts';
import { IssuerKeys } from './issuer-keys.ts';
import { type JwtConfiguration, SIGNING_ALGORITHMS } from './jwt-configuration.ts';
import { type Claims, userOfClaims } from './user-of-claims.ts';

const REMEMBERED_TOKENS = 4096;
/** Upstream's cache TTL; times and rules are checked with every use. */
const REMEMBERED_MS = 10_000;
/** The leeway for clock skew of `nbf`. */
const NOT_BEFORE_LEEWAY_MS = 5 * 60_000;

export interface JwtDeps {
  readonly clock: Clock;
  readonly realClock: Clock;
  readonly egress?: EgressSelector | undefined;
}

/** ID tokens of one OpenID Connect issuer. */
export class JwtAuthenticator implements TokenAuthenticator {
  readonly #configuration: JwtConfiguration;
  readonly #keys: IssuerKeys;
  readonly #clock: Clock;
  readonly #verified: Lru<string, Claims>;

  constructor(configuration: JwtConfiguration, { clock, realClock, egress }: JwtDeps) {
    const { url: issuer, discoveryUrl, certificateAuthority, egress: network } = configuration.issuer;
    if (network !== undefined && egress === undefined) throw new Error('oidc: egress lookup required if egress selector type is set');
    const dial = network && egress?.[network];
    this.#configuration = configuration;
    this.#clock = clock;
    this.#keys = new IssuerKeys({ issuer, discoveryUrl, certificateAuthority, clock: realClock, dial });
    this.#verified = new Lru({ capacity: REMEMBERED_TOKENS, ttlMs: REMEMBERED_MS, clock: realClock });
  }

  authenticateToken(token: string): TokenResponse | undefined | Promise<TokenResponse> {
    if (claimedIssuer(token) !== this.#configuration.issuer.url) return undefined;
    const claims = this.#verified.get(token);
    return claims === undefined ? this.#verify(token) : { user: this.#userOf(claims) };
  }

  async #verify(token: string): Promise<TokenResponse> {
    const claims = await this.#claimsOf(token).catch((error: unknown) => {
      throw new Error(`oidc: verify token: ${(error as Error).message}`, { cause: error });
    });
    const user = this.#userOf(claims);
    this.#verified.set(token, claims);
    return { user };
  }

  #userOf(claims: Claims): UserInfo {
    this.#checkAudience(claims);
    this.#checkTimes(claims);
    return userOfClaims(claims, this.#configuration);
  }

  async #claimsOf(token: string): Promise<Claims> {
    const algorithms = [...(this.#configuration.signingAlgorithms ?? SIGNING_ALGORITHMS)];
    const verify = (keys: JWTVerifyGetKey) => compactVerify(token, keys as Parameters<typeof compactVerify>[1], { algorithms });
    const { payload } = await verify(await this.#keys.current()).catch(async (error: unknown) => {
      if (!isUnknownKey(error)) throw error;
      const keys = await this.#keys.refreshed();
      if (keys === undefined) throw error;
      return verify(keys);
    });
    return JSON.parse(Buffer.from(payload).toString('utf8')) as Claims;
  }

  #checkAudience({ aud }: Claims): void {
    const { audiences } = this.#configuration.issuer;
    const tokenAudiences = typeof aud === 'string' ? [aud] : Array.isArray(aud) ? aud.map(String) : [];
    if (tokenAudiences.some((audience) => audiences.includes(audience))) return;
    const list = (texts: readonly string[]) => `[${texts.map(goQuote).join(' ')}]`;
    throw new Error(`oidc: verify token: oidc: expected audience in ${list(audiences)} got ${list(tokenAudiences)}`);
  }

  #checkTimes({ exp, nbf }: Claims): void {
    const now = this.#clock.now();
    if (typeof exp !== 'number' || now > exp * 1000) throw new Error('oidc: verify token: oidc: token is expired');
    if (typeof nbf === 'number' && now + NOT_BEFORE_LEEWAY_MS < nbf * 1000)
      throw new Error('oidc: verify token: oidc: current time is before the nbf (not before) time');
  }
}

/** A rotated key, or a forged signature with an old key id. */
function isUnknownKey(error: unknown): boolean {
  return error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWSSignatureVerificationFailed;
}
