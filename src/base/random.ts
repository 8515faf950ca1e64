import { getRandomValues, randomUUID } from 'node:crypto';

/** Randomness, injected so that tests are reproducible. */
export interface Random {
  /** At least 0, less than 1. */
  float(): number;
  /** An integer, at least 0 and less than `limit`. */
  int(limit: number): number;
  /** One of `items`, uniformly. Throws on an empty list. */
  pick<T>(items: readonly T[]): T;
  /** A new array with the items in a random order. */
  shuffle<T>(items: readonly T[]): T[];
  /** `length` characters of `alphabet`. */
  string(alphabet: string, length: number): string;
  bytes(length: number): Uint8Array;
  /** A version 4 UUID. */
  uuid(): string;
}

/** The primitive of a random source; everything else is derived from it. */
interface Source {
  /** An integer, at least 0 and less than 2^32. */
  uint32(): number;
  bytes(length: number): Uint8Array;
  uuid(): string;
}

/** The operating system's entropy: suitable for tokens and names. */
export const systemRandom: Random = randomFrom({
  uint32: pooledEntropy(256),
  bytes: (length) => getRandomValues(new Uint8Array(length)),
  uuid: () => contiguous(randomUUID()),
});

/** Reads many numbers at a time: a call for each would dominate the cost. */
function pooledEntropy(size: number): () => number {
  const pool = new Uint32Array(size);
  let used = size;
  return () => {
    if (used === size) {
      getRandomValues(pool);
      used = 0;
    }
    const value = pool[used] as number;
    pool[used++] = 0;
    return value;
  };
}

/** The same seed gives the same sequence on every machine. Not for secrets. */
export function seededRandom(seed: number | string): Random {
  const uint32 = sfc32(String(seed));
  const bytes = (length: number) => Uint8Array.from({ length }, () => uint32() & 0xff);
  return randomFrom({ uint32, bytes, uuid: () => uuidFrom(bytes(16)) });
}

function randomFrom(source: Source): Random {
  const int = (limit: number) => uniform(source, limit);
  return {
    int,
    bytes: source.bytes,
    uuid: source.uuid,
    float: () => ((source.uint32() >>> 5) * 2 ** 26 + (source.uint32() >>> 6)) / 2 ** 53,
    pick<T>(items: readonly T[]): T {
      if (items.length === 0) throw new RangeError('cannot pick from an empty list');
      return items[int(items.length)] as T;
    },
    shuffle: (items) => shuffled(items, int),
    string: (alphabet, length) => {
      let text = '';
      for (let i = 0; i < length; i++) text += alphabet[int(alphabet.length)];
      return text;
    },
  };
}

/** Rejects values above the greatest multiple of `limit`, to avoid bias. */
function uniform(source: Source, limit: number): number {
  if (!(limit >= 1 && limit <= 2 ** 32)) throw new RangeError(`limit ${limit} is not between 1 and 2^32`);
  const fair = 2 ** 32 - (2 ** 32 % limit);
  for (;;) {
    const drawn = source.uint32();
    if (drawn < fair) return drawn % limit;
  }
}

function shuffled<T>(items: readonly T[], int: (limit: number) => number): T[] {
  const result = [...items];
  for (let i = result.length - 1; i > 0; i--) {
    const j = int(i + 1);
    [result[i], result[j]] = [result[j] as T, result[i] as T];
  }
  return result;
}

/** Chris Doty-Humphrey's small fast counter generator, seeded by a hash of the text. */
function sfc32(seed: string): () => number {
  let [a, b, c, counter] = [hash32(seed, 1), hash32(seed, 2), hash32(seed, 3), 1];
  const next = () => {
    const result = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + result;
    return result >>> 0;
  };
  for (let i = 0; i < 12; i++) next();
  return next;
}

/** FNV-1a over the salt and the text. */
function hash32(text: string, salt: number): number {
  let hash = Math.imul(0x811c9dc5 ^ salt, 0x01000193);
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash | 0;
}

function uuidFrom(bytes: Uint8Array): string {
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  const hex = Buffer.from(bytes).toString('hex');
  return contiguous(`${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`);
}

/** A text that is joined from pieces keeps them all, ten times its size, and every object has a UUID. */
function contiguous(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}
