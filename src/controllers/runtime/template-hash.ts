import { compareBytes, isJsonObject } from '#machinery';

/** No vowels or lookalikes, so that no words appear. */
const SAFE = 'bcdfghjklmnpqrstvwxz2456789';

/**
 * A short hash of a value, equal on every machine and in every release: 32-bit FNV-1a of its canonical form and of the
 * collision count.
 */
export function templateHash(value: unknown, collisionCount?: number): string {
  let hash = fnv32a(0x811c9dc5, canonical(value));
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

/** Equal values have equal text, whatever the order of their keys. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => (isJsonObject(part) ? sorted(part) : part)) ?? 'null';
}

function sorted(object: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).sort(([a], [b]) => compareBytes(a, b)));
}
