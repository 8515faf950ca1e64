import { maxOf, minOf } from '#base';
import type { PreemptionCandidate, PreemptionVictims } from '../../framework/plugin.ts';
import { startOf } from './select-victims.ts';

/** The criteria in order; each breaks ties of the previous ones. The greatest value wins. */
const CRITERIA: readonly ((victims: PreemptionVictims) => number)[] = [
  ({ violations }) => -violations,
  ({ pods }) => -(pods[0]?.priority ?? 0),
  // The offset makes every priority count, so that more victims are worse even when theirs are negative.
  ({ pods }) => -pods.reduce((sum, { priority }) => sum + priority + 2 ** 31, 0),
  ({ pods }) => -pods.length,
  latestStart,
];

export function pickCandidate(candidates: readonly PreemptionCandidate[]): PreemptionCandidate | undefined {
  let best = candidates;
  for (const criterion of CRITERIA) {
    if (best.length <= 1) break;
    const values = best.map(({ victims }) => criterion(victims));
    const greatest = maxOf(values);
    best = best.filter((_, i) => values[i] === greatest);
  }
  return best[0];
}

/** The earliest start of the most important victims: pods that ran for the shortest time lose least. */
function latestStart({ pods }: PreemptionVictims): number {
  const highest = pods[0]?.priority ?? 0;
  return minOf(pods.filter(({ priority }) => priority === highest).map(({ pod }) => startOf(pod)));
}
