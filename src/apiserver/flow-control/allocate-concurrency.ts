/** A participant: gets at least `lowest`, at most `highest`, and otherwise in proportion to `target`. */
export interface Claimant {
  readonly target: number;
  readonly lowest: number;
  readonly highest: number;
}

/** The minimum target, so that participants without demand still get a share. */
const MIN_TARGET = 0.001;

/**
 * Divides `total` so that all get the same fraction of their target, within their bounds. If the bounds allow no such
 * division, each gets the limiting bound.
 */
export function allocateConcurrency(total: number, claimants: readonly Claimant[]): readonly number[] {
  const targets = claimants.map(({ target }) => Math.max(target, MIN_TARGET));
  const at = (proportion: number) => claimants.map(({ lowest, highest }, i) => clamp(targets[i]! * proportion, lowest, highest));
  const bounds = claimants.flatMap(({ lowest, highest }, i) => [lowest / targets[i]!, highest / targets[i]!]).sort((a, b) => a - b);
  let low = 0;
  for (const bound of bounds) {
    if (sum(at(bound)) >= total) return at(between({ low, high: bound }, total, at));
    low = bound;
  }
  return at(low);
}

interface Range {
  readonly low: number;
  readonly high: number;
}

/** Between two bounds the sum is linear. */
function between({ low, high }: Range, total: number, at: (proportion: number) => readonly number[]): number {
  const [first, last] = [sum(at(low)), sum(at(high))];
  if (last - first < Number.EPSILON || total <= first) return low;
  return low + ((total - first) / (last - first)) * (high - low);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function clamp(value: number, lowest: number, highest: number): number {
  return Math.max(lowest, Math.min(highest, value));
}
