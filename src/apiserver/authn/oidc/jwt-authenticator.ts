import { type Clock, Lru } from '#base';
import type { EgressSelector } from '../../egress/egress-selector.ts';
import type { UserInfo } from '../../request/user.ts';
import type { TokenAuthenticator, TokenResponse } from '../authenticator.ts';
import { claimedIssuer } from '../service-accounts/signed-tokens.ts';
import { DistributedClaim } from './distributed-claim.ts';
import { IdTokenVerifier } from './id-token-verifier.ts';
import { IssuerKeys } from './issuer-keys.ts';
import { type JwtConfiguration, SIGNING_ALGORITHMS } from './jwt-configuration.ts';
import { type Claims, userOfClaims } from './user-of-claims.ts';

const REMEMBERED_TOKENS = 4096;
/** Upstream's cache TTL; times and rules are checked with every use. */
const REMEMBERED_MS = 10_000;

export interface JwtDeps {
  readonly clock: Clock;
  readonly realClock: Clock;
  readonly egress?: EgressSelector | undefined;
}

/** ID tokens of one OpenID Connect issuer. */
export class JwtAuthenticator implements TokenAuthenticator {
  readonly #configuration: JwtConfiguration;
  readonly #verifier: IdTokenVerifier;
  /** The claim of groups may be elsewhere, unless groups are the result of an expression. */
  readonly #distributedGroups: DistributedClaim | undefined;
  readonly #verified: Lru<string, Claims>;

  constructor(configuration: JwtConfiguration, { clock, realClock, egress }: JwtDeps) {
    const { url, discoveryUrl, certificateAuthority, audiences, egress: network } = configuration.issuer;
    if (network !== undefined && egress === undefined) throw new Error('oidc: egress lookup required if egress selector type is set');
    const access = { certificateAuthority, clock: realClock, dial: network && egress?.[network] };
    const algorithms = configuration.signingAlgorithms ?? SIGNING_ALGORITHMS;
    const verifierOf = (issuer: string) => {
      const keys = new IssuerKeys({ ...access, issuer, discoveryUrl: issuer === url ? discoveryUrl : undefined });
      return new IdTokenVerifier({ keys, audiences, algorithms, clock });
    };
    const { groups } = configuration.claimMappings;
    this.#configuration = configuration;
    this.#verifier = verifierOf(url);
    this.#distributedGroups = groups && 'claim' in groups ? new DistributedClaim(groups.claim, { access, verifierOf }) : undefined;
    this.#verified = new Lru({ capacity: REMEMBERED_TOKENS, ttlMs: REMEMBERED_MS, clock: realClock });
  }

  authenticateToken(token: string): TokenResponse | undefined | Promise<TokenResponse> {
    if (claimedIssuer(token) !== this.#configuration.issuer.url) return undefined;
    const claims = this.#verified.get(token);
    return claims === undefined ? this.#verify(token) : { user: this.#rememberedUser(claims) };
  }

  async #verify(token: string): Promise<TokenResponse> {
    const verified = await this.#verifier.verify(token).catch(tokenError);
    const claims = await this.#expanded(verified);
    const user = userOfClaims(claims, this.#configuration);
    this.#verified.set(token, claims);
    return { user };
  }

  async #expanded(claims: Claims): Promise<Claims> {
    try {
      return (await this.#distributedGroups?.expand(claims)) ?? claims;
    } catch (error) {
      throw new Error(`oidc: could not expand distributed claims: ${(error as Error).message}`, { cause: error });
    }
  }

  #rememberedUser(claims: Claims): UserInfo {
    try {
      this.#verifier.check(claims);
    } catch (error) {
      tokenError(error);
    }
    return userOfClaims(claims, this.#configuration);
  }
}

function tokenError(error: unknown): never {
  throw new Error(`oidc: verify token: ${(error as Error).message}`, { cause: error });
}
