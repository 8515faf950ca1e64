/** The cache TTL by cluster size. Ranges overlap, so that a cluster at a boundary does not flap. */
const BOUNDARIES: readonly { readonly min: number; readonly max: number; readonly seconds: number }[] = [
  { min: 0, max: 100, seconds: 0 },
  { min: 90, max: 500, seconds: 15 },
  { min: 450, max: 1000, seconds: 30 },
  { min: 900, max: 2000, seconds: 60 },
  { min: 1800, max: 10_000, seconds: 300 },
  { min: 9000, max: Infinity, seconds: 600 },
];

/** The step for a number of nodes, given the current step. */
export function ttlStep(nodes: number, before: number): number {
  let step = before;
  while (step < BOUNDARIES.length - 1 && nodes > BOUNDARIES[step]!.max) step++;
  while (step > 0 && nodes < BOUNDARIES[step]!.min) step--;
  return step;
}

export function ttlSeconds(step: number): number {
  return BOUNDARIES[step]!.seconds;
}
