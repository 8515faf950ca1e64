import { CompactSign, compactVerify, errors } from 'jose';
import { type Clock, Lru } from '#base';
import type { KeySource, VerificationKey } from './keys.ts';

/** The payload of a token whose signature was found good; nothing else of it was checked. */
export type SignedPayload = Readonly<Record<string, unknown>>;

export interface SignedTokensOptions {
  readonly keys: KeySource;
  readonly clock: Clock;
}

const REMEMBERED_TOKENS = 4096;
const REMEMBERED_MS = 10 * 60_000;
const MAX_TOKEN_LENGTH = 16 * 1024;

/**
 * Signs tokens and checks signatures. A signature that was found good is remembered, for that costs far more than all other checks; those,
 * such as the time and the objects the token is bound to, are for the caller to repeat with every use.
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

  /** The payload, at once when the token was seen before. Rejects when the signature is not by one of the keys. */
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
        // The key decides the algorithm, never the token: `none`, or HMAC with the public key as secret, are not even tried.
        const { payload } = await compactVerify(token, key, { algorithms: [algorithm] });
        return JSON.parse(Buffer.from(payload).toString('utf8')) as SignedPayload;
      } catch (error) {
        if (!(error instanceof errors.JOSEError) && !(error instanceof SyntaxError)) throw error;
      }
    }
    throw new Error('go-jose/go-jose: error in cryptographic primitive');
  }
}

/** The keys that a token may be signed with, by what it says itself. */
function candidates(token: string, keys: readonly VerificationKey[]): readonly VerificationKey[] {
  const { kid } = decodePart(token.split('.', 1)[0]!) ?? {};
  return kid === undefined || kid === '' ? keys : keys.filter(({ id }) => id === kid);
}

/** The issuer that a token names, before anything of it was checked; undefined when it is no token of this form. */
export function claimedIssuer(token: string): string | undefined {
  if (token.length > MAX_TOKEN_LENGTH) return undefined;
  const parts = token.split('.');
  if (parts.length !== 3 || !/^[A-Za-z0-9_-]+$/.test(parts[1]!)) return undefined;
  const issuer = decodePart(parts[1]!)?.iss;
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
