import type { NodeInfo } from '../../framework/node-info.ts';
import { startOf, type Victims } from './select-victims.ts';

export interface Candidate {
  readonly node: NodeInfo;
  readonly victims: Victims;
}

/** In this order; each decides only among those that the ones before find equal. The greatest value wins. */
const CRITERIA: readonly ((victims: Victims) => number)[] = [
  ({ violations }) => -violations,
  ({ pods }) => -(pods[0]?.priority ?? 0),
  // The offset makes every priority count, so that more victims are worse even when theirs are negative.
  ({ pods }) => -pods.reduce((sum, { priority }) => sum + priority + 2 ** 31, 0),
  ({ pods }) => -pods.length,
  latestStart,
];

export function pickCandidate(candidates: readonly Candidate[]): Candidate | undefined {
  let best = candidates;
  for (const criterion of CRITERIA) {
    if (best.length <= 1) break;
    const values = best.map(({ victims }) => criterion(victims));
    const greatest = Math.max(...values);
    best = best.filter((_, i) => values[i] === greatest);
  }
  return best[0];
}

/** When the first of the most important victims started: those that ran for the shortest time lose least. */
function latestStart({ pods }: Victims): number {
  const highest = pods[0]?.priority ?? 0;
  return Math.min(...pods.filter(({ priority }) => priority === highest).map(({ pod }) => startOf(pod)));
}
