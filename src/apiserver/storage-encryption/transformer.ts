import { isPromise, type MaybePromise } from '#base';

export interface DecryptedValue {
  readonly bytes: Buffer;
  /** It would be stored differently now: the next write replaces it. */
  readonly isStale: boolean;
}

/** Transforms stored values. `key` is authenticated: a value moved to another key cannot be decrypted. */
export interface Transformer {
  /** Throws when encryption is currently impossible. */
  encrypt(plain: Buffer, key: string): Buffer;
  /** Calls a service only for unknown keys. Throws on values that cannot be decrypted. */
  decrypt(stored: Buffer, key: string): MaybePromise<DecryptedValue>;
}

/** A transformer of values with this prefix. */
export interface PrefixTransformer {
  readonly prefix: Buffer;
  readonly transformer: Transformer;
}

/** Writes with the first transformer, reads by prefix. */
export function prefixTransformers(unmatched: string, transformers: readonly PrefixTransformer[]): Transformer {
  const [first] = transformers;
  if (first === undefined) throw new TypeError('there must be a transformer to write with');
  return {
    encrypt: (plain, key) => Buffer.concat([first.prefix, first.transformer.encrypt(plain, key)]),
    decrypt: (stored, key) => decryptFrom({ unmatched, transformers, errors: [] }, { stored, key }, 0),
  };
}

interface Attempt {
  readonly unmatched: string;
  readonly transformers: readonly PrefixTransformer[];
  readonly errors: string[];
}

interface StoredValue {
  readonly stored: Buffer;
  readonly key: string;
}

function decryptFrom(attempt: Attempt, value: StoredValue, from: number): MaybePromise<DecryptedValue> {
  const { transformers, errors } = attempt;
  for (let i = from; i < transformers.length; i++) {
    const { prefix, transformer } = transformers[i]!;
    if (!startsWith(value.stored, prefix)) continue;
    try {
      const result = transformer.decrypt(value.stored.subarray(prefix.length), value.key);
      if (!isPromise(result)) return staleBehind(i, result);
      return result.then(
        (decrypted) => staleBehind(i, decrypted),
        (error: unknown) => {
          errors.push((error as Error).message);
          return decryptFrom(attempt, value, i + 1);
        },
      );
    } catch (error) {
      // Unencrypted values have no prefix: another transformer may match.
      if (prefix.length > 0 || !(error instanceof EncryptedDataError)) errors.push((error as Error).message);
    }
  }
  throw new Error(errors.length === 0 ? attempt.unmatched : [...new Set(errors)].join('; '));
}

function staleBehind(index: number, { bytes, isStale }: DecryptedValue): DecryptedValue {
  return { bytes, isStale: isStale || index > 0 };
}

function startsWith(value: Buffer, prefix: Buffer): boolean {
  return value.length >= prefix.length && value.compare(prefix, 0, prefix.length, 0, prefix.length) === 0;
}

const ENCRYPTED_PREFIX = Buffer.from('k8s:enc:');

export function isEncrypted(stored: Buffer): boolean {
  return startsWith(stored, ENCRYPTED_PREFIX);
}

export class EncryptedDataError extends Error {
  override readonly name = 'EncryptedDataError';
}

/** A stored value is in an unknown version or format. */
export class StoredFormatError extends Error {
  override readonly name = 'StoredFormatError';
}

/** Stores values unencrypted, and rejects encrypted ones. */
export const identity: Transformer = {
  encrypt: (plain) => plain,
  decrypt(stored) {
    if (isEncrypted(stored)) throw new EncryptedDataError('identity transformer tried to read encrypted data');
    return { bytes: stored, isStale: false };
  },
};
