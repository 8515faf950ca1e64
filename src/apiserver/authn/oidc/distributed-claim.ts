import { Lru } from '#base';
import { goQuote, isJsonObject } from '#machinery';
import { claimedIssuer } from '../service-accounts/signed-tokens.ts';
import type { IdTokenVerifier } from './id-token-verifier.ts';
import { fetchFromIssuer, type IssuerAccess } from './issuer-access.ts';
import type { Claims } from './user-of-claims.ts';

export interface DistributedClaimOptions {
  readonly access: IssuerAccess;
  readonly verifierOf: (issuer: string) => IdTokenVerifier;
}

interface ClaimSource {
  readonly endpoint?: unknown;
  readonly access_token?: unknown;
}

/** Verified tokens name the endpoints; their answers name the issuers. */
const REMEMBERED_ISSUERS = 16;

/**
 * A claim that a token may leave to another server: `_claim_names` has the name of its source, and `_claim_sources` the source's endpoint, which answers
 * with a signed token of its own (OpenID Connect Core 1.0, 5.6.2). As upstream, one claim is resolved, and aggregated claims are left alone.
 */
export class DistributedClaim {
  readonly #claim: string;
  readonly #options: DistributedClaimOptions;
  readonly #verifiers = new Lru<string, IdTokenVerifier>({ capacity: REMEMBERED_ISSUERS });

  constructor(claim: string, options: DistributedClaimOptions) {
    this.#claim = claim;
    this.#options = options;
  }

  /** The claims together with this one, if a source has it. Rejects if that cannot be had. */
  async expand(claims: Claims): Promise<Claims> {
    const source = sourceOf(claims, this.#claim);
    if (source === undefined || typeof source.endpoint !== 'string' || source.endpoint === '') return claims;
    return { ...claims, [this.#claim]: await this.#resolve(source.endpoint, source.access_token) };
  }

  async #resolve(endpoint: string, accessToken: unknown): Promise<unknown> {
    const authorization = typeof accessToken === 'string' && accessToken !== '' ? { authorization: `Bearer ${accessToken}` } : {};
    const token = await fetchFromIssuer(endpoint, this.#options.access, authorization).catch((error: Error) => {
      throw new Error(`while getting distributed claim ${goQuote(this.#claim)}: ${error.message}`, { cause: error });
    });
    const claims = await this.#verifierOf(token, endpoint)
      .verify(token)
      .catch((error: Error) => {
        throw new Error(`verify distributed claim token: ${error.message}`, { cause: error });
      });
    if (!Object.hasOwn(claims, this.#claim))
      throw new Error(`jwt returned by distributed claim endpoint ${goQuote(endpoint)} did not contain claim: ${this.#claim}`);
    return claims[this.#claim];
  }

  #verifierOf(token: string, endpoint: string): IdTokenVerifier {
    const issuer = claimedIssuer(token);
    if (issuer === undefined)
      throw new Error(`getting untrusted issuer from endpoint ${endpoint} failed for claim ${goQuote(this.#claim)}: malformed token`);
    let verifier = this.#verifiers.get(issuer);
    if (verifier === undefined) {
      verifier = this.#options.verifierOf(issuer);
      this.#verifiers.set(issuer, verifier);
    }
    return verifier;
  }
}

/** Undefined: the claim is not distributed. Throws for contradictory claims. */
function sourceOf(claims: Claims, claim: string): ClaimSource | undefined {
  if (Object.hasOwn(claims, claim) || !Object.hasOwn(claims, '_claim_names')) return undefined;
  const names = claims._claim_names;
  if (!isJsonObject(names) || !Object.values(names).every((name) => typeof name === 'string'))
    throw new Error('oidc: error parsing distributed claim names: they are no map of strings');
  if (!Object.hasOwn(claims, '_claim_sources')) throw new Error('oidc: no claim sources');
  const sources = claims._claim_sources;
  if (!isJsonObject(sources)) throw new Error('oidc: could not parse claim sources: they are no map');
  if (!Object.hasOwn(names, claim)) return undefined;
  const name = names[claim] as string;
  const source = Object.hasOwn(sources, name) ? sources[name] : undefined;
  if (source === undefined) throw new Error(`id token _claim_names contained a source ${name} missing in _claims_sources`);
  return isJsonObject(source) ? source : {};
}
