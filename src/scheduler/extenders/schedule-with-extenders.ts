import type { PreemptionCandidate } from '../framework/plugin.ts';
import type { PodInfo } from '../framework/pod-info.ts';
import { feasibleNodes, type Placement, type SchedulingContext, scheduleOne } from '../schedule-one.ts';
import type { Extenders } from './extenders.ts';

/**
 * Schedules a pod that extenders apply to. They are called with the feasible nodes; the placement is then computed with
 * their results, on the then current snapshot.
 */
export async function scheduleWithExtenders(pod: PodInfo, context: SchedulingContext, extenders: Extenders): Promise<Placement> {
  const { snapshot } = context;
  try {
    const withResults = { ...context, extenderResults: await extenders.filterAndPrioritize(pod, feasibleNodes(pod, context)) };
    let candidates: readonly PreemptionCandidate[] = [];
    const placement = scheduleOne(pod, { ...withResults, reviewCandidates: (proposed) => (candidates = proposed) });
    if (placement.type !== 'unschedulable' || candidates.length === 0) return placement;
    const reviewed = await extenders.reviewVictims(pod, candidates, snapshot);
    return reviewed === candidates ? placement : scheduleOne(pod, { ...withResults, reviewCandidates: () => reviewed });
  } catch (error) {
    return { type: 'error', message: error instanceof Error ? error.message : String(error) };
  }
}
