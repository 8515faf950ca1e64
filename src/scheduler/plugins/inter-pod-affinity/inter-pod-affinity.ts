import type { core } from '#api';
import { type AffinityTerm, affinityTermsOf, type NamespaceLabels, termMatches } from '../../framework/affinity-term.ts';
import type { NodeInfo } from '../../framework/node-info.ts';
import { MAX_SCORE } from '../../framework/normalize-scores.ts';
import type { Plugin, PluginFactory } from '../../framework/plugin.ts';
import type { PodInfo } from '../../framework/pod-info.ts';
import type { Snapshot } from '../../framework/snapshot.ts';
import { SKIP } from '../../framework/status.ts';
import { AffinityFilterState, NAME, queryOf } from './affinity-filter.ts';
import { TopologyCounts } from './topology-counts.ts';

const SCORE_STATE = `${NAME} score`;

interface ScoreOptions {
  readonly hardWeight: number;
  readonly ignoresExisting: boolean;
  readonly namespaces: NamespaceLabels;
}

/** podAffinity and podAntiAffinity, of the incoming pod and of existing pods. */
export const interPodAffinity: PluginFactory = (args, { namespaces }): Plugin => {
  const scoring: ScoreOptions = {
    hardWeight: (args.hardPodAffinityWeight as number | undefined) ?? 1,
    ignoresExisting: args.ignorePreferredTermsOfExistingPods === true,
    namespaces,
  };
  return {
    name: NAME,
    events: [
      { resource: 'AssignedPod', actions: ['Add', 'Delete', 'UpdatePodLabel'], hint: (pod, event) => concerns(pod, event, namespaces) },
      { resource: 'UnscheduledPod', actions: ['UpdatePodLabel'] },
      { resource: 'Node', actions: ['Add', 'UpdateNodeLabel'] },
    ],
    preFilter(state, pod, snapshot) {
      const filterState = AffinityFilterState.of(pod, snapshot, namespaces);
      if (filterState === undefined) return { status: SKIP };
      state.write(NAME, filterState);
      return undefined;
    },
    addPod: (state, _, { pod, node }) => state.read<AffinityFilterState>(NAME)?.change(pod, node, 1),
    removePod: (state, _, { pod, node }) => state.read<AffinityFilterState>(NAME)?.change(pod, node, -1),
    filter: (state, _, node) => state.read<AffinityFilterState>(NAME)?.check(node),
    preScore(state, pod, { snapshot }) {
      const scores = topologyScores(pod, snapshot, scoring);
      if (scores.isEmpty) return SKIP;
      state.write(SCORE_STATE, scores);
      return undefined;
    },
    score: (state, _, node: NodeInfo) => state.read<TopologyCounts>(SCORE_STATE)?.sumFor(node) ?? 0,
    normalizeScores: (_, scores) => stretch(scores),
  };
};

function topologyScores(pod: PodInfo, snapshot: Snapshot, { hardWeight, ignoresExisting, namespaces }: ScoreOptions): TopologyCounts {
  const scores = new TopologyCounts();
  const { preferredAffinity, preferredAntiAffinity } = pod.affinity;
  const own = (term: AffinityTerm, weight: number) =>
    scores.addDomains(term.topologyKey, snapshot.countPodsBy(term.topologyKey, queryOf([term])), weight);
  for (const { term, weight } of preferredAffinity) own(term, weight);
  for (const { term, weight } of preferredAntiAffinity) own(term, -weight);
  if (ignoresExisting && preferredAffinity.length === 0 && preferredAntiAffinity.length === 0) return scores;
  const addTerms = (kind: 'requiredAffinity' | 'preferredAffinity' | 'preferredAntiAffinity', factor: number) => {
    for (const { term, weight, domains } of snapshot.placedTerms(kind)) {
      if (termMatches(term, pod, namespaces)) scores.addDomains(term.topologyKey, domains, weight * factor);
    }
  };
  if (hardWeight > 0) addTerms('requiredAffinity', hardWeight);
  addTerms('preferredAffinity', 1);
  addTerms('preferredAntiAffinity', -1);
  return scores;
}

/** Scales the minimum to 0 and the maximum to 100. */
function stretch(scores: Float64Array): void {
  let least = Infinity;
  let most = -Infinity;
  for (const score of scores) {
    least = Math.min(least, score);
    most = Math.max(most, score);
  }
  const range = most - least;
  for (let i = 0; i < scores.length; i++) scores[i] = range > 0 ? Math.trunc((MAX_SCORE * ((scores[i] as number) - least)) / range) : 0;
}

/** A pod that was added, deleted or relabelled is relevant when a term of the pending pod, or its own anti-affinity, matches. */
function concerns(pod: PodInfo, { before, after }: { before?: unknown; after?: unknown }, namespaces: NamespaceLabels): 'Queue' | 'Skip' {
  const { requiredAffinity, requiredAntiAffinity } = pod.affinity;
  const matches = (other: core.Pod | undefined): boolean => {
    if (other === undefined) return false;
    const labelled = {
      namespace: other.metadata.namespace ?? '',
      labels: (other.metadata.labels ?? {}) as Readonly<Record<string, string>>,
    };
    const concernsOwn = [...requiredAffinity, ...requiredAntiAffinity].some((term) => termMatches(term, labelled, namespaces));
    return concernsOwn || affinityTermsOf(other).requiredAntiAffinity.some((term) => termMatches(term, pod, namespaces));
  };
  return matches(before as core.Pod | undefined) || matches(after as core.Pod | undefined) ? 'Queue' : 'Skip';
}
