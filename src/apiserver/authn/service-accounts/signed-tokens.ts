import { CompactSign, compactVerify, errors } from 'jose';
import { type Clock, Lru } from '#base';
import type { KeySource, VerificationKey } from './keys.ts';

/** The payload of a token with a valid signature; nothing else is checked. */
export type SignedPayload = Readonly<Record<string, unknown>>;

export interface SignedTokensOptions {
  readonly keys: KeySource;
  readonly clock: Clock;
}

const REMEMBERED_TOKENS = 4096;
const REMEMBERED_MS = 10 * 60_000;
const MAX_TOKEN_LENGTH = 16 * 1024;

/**
 * Signs tokens and verifies signatures. Valid signatures are cached, since verification is by far the most expensive check; all others,
 * such as times and bound objects, must be repeated by the caller with every use.
 */
export class SignedTokens {
  readonly #keys: KeySource;
  readonly #good: Lru<string, SignedPayload>;

  constructor({ keys, clock }: SignedTokensOptions) {
    this.#keys = keys;
    this.#good = new Lru({ capacity: REMEMBERED_TOKENS, ttlMs: REMEMBERED_MS, clock });
  }

  async sign(payload: object): Promise<string> {
    const { signing } = await this.#keys();
    if (signing === undefined) throw new Error('this server has no key to sign service account tokens with');
    const { id, algorithm, privateKey } = signing;
    return new CompactSign(Buffer.from(JSON.stringify(payload))).setProtectedHeader({ alg: algorithm, kid: id }).sign(privateKey);
  }

  /** The payload, synchronously for cached tokens. Rejects on an invalid signature. */
  verify(token: string): SignedPayload | Promise<SignedPayload> {
    return this.#good.get(token) ?? this.#verify(token);
  }

  async #verify(token: string): Promise<SignedPayload> {
    const payload = await this.#checkSignature(token, candidates(token, (await this.#keys()).verification));
    this.#good.set(token, payload);
    return payload;
  }

  async #checkSignature(token: string, candidates: readonly VerificationKey[]): Promise<SignedPayload> {
    if (candidates.length === 0) throw new Error('invalid signature, no keys found');
    for (const { key, algorithm } of candidates) {
      try {
        // The key determines the algorithm, never the token: `none` and HMAC with the public key are not possible.
        const { payload } = await compactVerify(token, key, { algorithms: [algorithm] });
        return JSON.parse(Buffer.from(payload).toString('utf8')) as SignedPayload;
      } catch (error) {
        if (!(error instanceof errors.JOSEError) && !(error instanceof SyntaxError)) throw error;
      }
    }
    throw new Error('go-jose/go-jose: error in cryptographic primitive');
  }
}

/** The keys that match the token's header. */
function candidates(token: string, keys: readonly VerificationKey[]): readonly VerificationKey[] {
  const { kid } = decodePart(token.split('.', 1)[0]!) ?? {};
  return kid === undefined || kid === '' ? keys : keys.filter(({ id }) => id === kid);
}

/** Unpadded base64url: the JOSE library also accepts padding, white space and the other alphabet, which upstream rejects. */
const COMPACT_JWS = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*$/;

/** The unverified issuer of a token; undefined if it is not a JWT. */
export function claimedIssuer(token: string): string | undefined {
  if (token.length > MAX_TOKEN_LENGTH || !COMPACT_JWS.test(token)) return undefined;
  const issuer = decodePart(token.split('.', 2)[1]!)?.iss;
  return typeof issuer === 'string' ? issuer : undefined;
}

function decodePart(part: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
