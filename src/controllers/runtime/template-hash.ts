import { sortedKeys } from './sorted-keys.ts';

/** No vowels or lookalikes, so that no words appear. */
const SAFE = 'bcdfghjklmnpqrstvwxz2456789';

/**
 * A short hash of a value, equal on every machine and in every release: 32-bit FNV-1a of its JSON with sorted keys and of the
 * collision count.
 */
export function templateHash(value: unknown, collisionCount?: number): string {
  let hash = fnv32a(0x811c9dc5, JSON.stringify(sortedKeys(value)) ?? 'null');
  if (collisionCount !== undefined) hash = fnv32a(hash, `\0${collisionCount}`);
  return safeEncode(String(hash));
}

/** Upstream's SafeEncodeString: text that is valid in names and labels. */
export function safeEncode(text: string): string {
  return [...Buffer.from(text, 'utf8')].map((byte) => SAFE[byte % SAFE.length]).join('');
}

function fnv32a(seed: number, text: string): number {
  let hash = seed;
  for (const byte of Buffer.from(text, 'utf8')) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}
