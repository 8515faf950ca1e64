import type { core } from '#api';
import type { Plugin, PluginFactory } from '../../framework/plugin.ts';
import type { PodInfo } from '../../framework/pod-info.ts';
import { SKIP } from '../../framework/status.ts';
import { defaultConstraints, ownConstraints, type SpreadConstraint } from './spread-constraint.ts';
import { NAME, SpreadFilterState } from './spread-filter.ts';
import { SpreadScoreState } from './spread-score.ts';

const SCORE_STATE = `${NAME} score`;

export const SYSTEM_DEFAULT_CONSTRAINTS: readonly core.TopologySpreadConstraint[] = [
  { topologyKey: 'kubernetes.io/hostname', maxSkew: 3, whenUnsatisfiable: 'ScheduleAnyway' },
  { topologyKey: 'topology.kubernetes.io/zone', maxSkew: 5, whenUnsatisfiable: 'ScheduleAnyway' },
];

/** Spreads pods evenly over topology domains: by their constraints, or by default those of a service or controller. */
export const podTopologySpread: PluginFactory = (args, handle): Plugin => {
  const isSystemDefault = (args.defaultingType ?? 'System') === 'System';
  const defaults = isSystemDefault
    ? SYSTEM_DEFAULT_CONSTRAINTS
    : ((args.defaultConstraints ?? []) as readonly core.TopologySpreadConstraint[]);
  const constraintsOf = (pod: PodInfo, when: 'DoNotSchedule' | 'ScheduleAnyway'): readonly SpreadConstraint[] =>
    hasOwn(pod) ? ownConstraints(pod, when) : defaultConstraints(pod, when, { defaults, objects: handle.objects });
  return {
    name: NAME,
    events: [
      { resource: 'AssignedPod', actions: ['Add', 'Delete', 'UpdatePodLabel', 'Update'], hint: (pod, event) => concerns(pod, event) },
      { resource: 'Node', actions: ['Add', 'Delete', 'UpdateNodeLabel', 'UpdateNodeTaint'] },
      { resource: 'UnscheduledPod', actions: ['UpdatePodLabel'] },
    ],
    preFilter(state, pod, snapshot) {
      const constraints = constraintsOf(pod, 'DoNotSchedule');
      if (constraints.length === 0) return { status: SKIP };
      state.write(NAME, SpreadFilterState.of(pod, constraints, snapshot));
      return undefined;
    },
    addPod: (state, { namespace }, change) => state.read<SpreadFilterState>(NAME)?.change(change.pod, change.node, { by: 1, namespace }),
    removePod: (state, { namespace }, change) =>
      state.read<SpreadFilterState>(NAME)?.change(change.pod, change.node, { by: -1, namespace }),
    filter: (state, _, node) => state.read<SpreadFilterState>(NAME)?.check(node),
    preScore(state, pod, context) {
      const constraints = constraintsOf(pod, 'ScheduleAnyway');
      if (constraints.length === 0) return SKIP;
      const requireAllKeys = hasOwn(pod) || !isSystemDefault;
      state.write(
        SCORE_STATE,
        new SpreadScoreState(pod, { constraints, requireAllKeys, snapshot: context.snapshot, nodes: context.nodes }),
      );
      return undefined;
    },
    score: (state, _, node) => state.read<SpreadScoreState>(SCORE_STATE)?.score(node) ?? 0,
    normalizeScores: (state, scores, nodes) => state.read<SpreadScoreState>(SCORE_STATE)?.normalize(scores, nodes),
  };
};

function hasOwn({ pod }: PodInfo): boolean {
  return (pod.spec?.topologySpreadConstraints?.length ?? 0) > 0;
}

/** Only pods that a constraint counts can change its result. */
function concerns(pod: PodInfo, { before, after }: { before?: unknown; after?: unknown }): 'Queue' | 'Skip' {
  if (!hasOwn(pod)) return 'Queue';
  const constraints = ownConstraints(pod, 'DoNotSchedule');
  const changed = [before, after].filter((state) => state !== undefined) as core.Pod[];
  const isCounted = ({ metadata }: core.Pod) =>
    metadata.namespace === pod.namespace &&
    constraints.some(({ selector }) => selector.matches(metadata.labels as Readonly<Record<string, string>> | undefined));
  return changed.some(isCounted) ? 'Queue' : 'Skip';
}
