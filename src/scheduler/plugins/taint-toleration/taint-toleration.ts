import { core } from '#api';
import type { CycleState } from '../../framework/cycle-state.ts';
import { normalizeByMaximum } from '../../framework/normalize-scores.ts';
import type { Plugin } from '../../framework/plugin.ts';
import { SKIP, unresolvable } from '../../framework/status.ts';
import { avoidsPods, findUntolerated, keepsPodsAway } from '../../framework/tolerations.ts';

const NAME = 'TaintToleration';
const UNTOLERATED = unresolvable(NAME, 'node(s) had untolerated taint(s)');

interface Preferences {
  readonly tolerations: readonly core.Toleration[];
}

/** Tainted nodes take only pods that tolerate the taints, and those that only prefer to be left alone come last. */
export function taintToleration(): Plugin {
  return {
    name: NAME,
    events: [
      {
        resource: 'Node',
        actions: ['Add', 'UpdateNodeTaint'],
        hint: (pod, { after }) => (firstUntoleratedTaint((after as core.Node).spec?.taints ?? [], pod.tolerations) ? 'Skip' : 'Queue'),
      },
      { resource: 'UnscheduledPod', actions: ['UpdatePodToleration'] },
    ],
    sign: ({ tolerations }) => tolerations,
    filter: (_, pod, { taints }) => (taints.length > 0 && firstUntoleratedTaint(taints, pod.tolerations) ? UNTOLERATED : undefined),
    preScore(state, pod, context) {
      if (context.snapshot.avoidedNodes === 0 || !context.nodes.some(({ taints }) => taints.some(avoidsPods))) return SKIP;
      const tolerations = pod.tolerations.filter(({ effect }) => !effect || effect === 'PreferNoSchedule');
      state.write(NAME, { tolerations } satisfies Preferences);
      return undefined;
    },
    score: (state, _, { taints }) => countAvoided(taints, state),
    normalizeScores: (_, scores) => normalizeByMaximum(scores, true),
  };
}

function firstUntoleratedTaint(taints: readonly core.Taint[], tolerations: readonly core.Toleration[]): core.Taint | undefined {
  return findUntolerated(taints, tolerations, keepsPodsAway);
}

function countAvoided(taints: readonly core.Taint[], state: CycleState): number {
  if (taints.length === 0) return 0;
  const { tolerations } = state.read<Preferences>(NAME)!;
  return taints.filter((taint) => avoidsPods(taint) && !core.isTaintTolerated(tolerations, taint)).length;
}
