/**
 * Keys are ordered as their UTF-8 bytes are. JavaScript compares UTF-16 units, which differs only where a surrogate meets a unit above the
 * surrogates; `unitOrder` may be used as long as no key has a unit from there on (`needsPointOrder`), and orders those keys the same.
 */
export type KeyOrder<K> = (a: K, b: K) => number;

export const unitOrder: KeyOrder<string> = (a, b) => (a < b ? -1 : a === b ? 0 : 1);

export const pointOrder: KeyOrder<string> = (a, b) => {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return rank(x) - rank(y);
  }
  return a.length - b.length;
};

const SURROGATES = 0xd800;

/** Surrogates encode code points above every single unit. */
function rank(unit: number): number {
  if (unit < SURROGATES) return unit;
  return unit >= 0xe000 ? unit - 0x800 : unit + 0x2000;
}

export function needsPointOrder(key: string): boolean {
  return /[\ud800-\uffff]/.test(key);
}
