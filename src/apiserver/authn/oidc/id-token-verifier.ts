import { compactVerify, errors, type JWTVerifyGetKey } from 'jose';
import type { Clock } from '#base';
import { goQuote } from '#machinery';
import type { IssuerKeys } from './issuer-keys.ts';
import type { Claims } from './user-of-claims.ts';

export interface IdTokenVerifierOptions {
  readonly keys: IssuerKeys;
  readonly audiences: readonly string[];
  readonly algorithms: readonly string[];
  /** The cluster's time, which tokens must be valid at. */
  readonly clock: Clock;
}

/** The leeway for clock skew of `nbf`. */
const NOT_BEFORE_LEEWAY_MS = 5 * 60_000;

/** Verifies ID tokens of one issuer. */
export class IdTokenVerifier {
  readonly #options: IdTokenVerifierOptions;

  constructor(options: IdTokenVerifierOptions) {
    this.#options = options;
  }

  /** The claims of a token that the issuer signed for one of the audiences, and that is valid now. Rejects otherwise. */
  async verify(token: string): Promise<Claims> {
    const claims = await this.#signedClaims(token);
    this.check(claims);
    return claims;
  }

  /** Throws for claims of a verified token that are not valid, or no longer. */
  check(claims: Claims): void {
    this.#checkAudience(claims);
    this.#checkTimes(claims);
  }

  async #signedClaims(token: string): Promise<Claims> {
    const { keys, algorithms } = this.#options;
    const verify = (keySet: JWTVerifyGetKey) =>
      compactVerify(token, keySet as Parameters<typeof compactVerify>[1], { algorithms: [...algorithms] });
    const { payload } = await verify(await keys.current()).catch(async (error: unknown) => {
      if (!isUnknownKey(error)) throw error;
      const refreshed = await keys.refreshed();
      if (refreshed === undefined) throw error;
      return verify(refreshed);
    });
    return JSON.parse(Buffer.from(payload).toString('utf8')) as Claims;
  }

  #checkAudience({ aud }: Claims): void {
    const { audiences } = this.#options;
    const tokenAudiences = typeof aud === 'string' ? [aud] : Array.isArray(aud) ? aud.map(String) : [];
    if (tokenAudiences.some((audience) => audiences.includes(audience))) return;
    const list = (texts: readonly string[]) => `[${texts.map(goQuote).join(' ')}]`;
    throw new Error(`oidc: expected audience in ${list(audiences)} got ${list(tokenAudiences)}`);
  }

  #checkTimes({ exp, nbf }: Claims): void {
    const now = this.#options.clock.now();
    if (typeof exp !== 'number' || now > exp * 1000) throw new Error('oidc: token is expired');
    if (typeof nbf === 'number' && now + NOT_BEFORE_LEEWAY_MS < nbf * 1000)
      throw new Error('oidc: current time is before the nbf (not before) time');
  }
}

/** A rotated key, or a forged signature with an old key id. */
function isUnknownKey(error: unknown): boolean {
  return error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWSSignatureVerificationFailed;
}
