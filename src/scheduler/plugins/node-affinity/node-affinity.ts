import { core } from '#api';
import type { Labels } from '#machinery';
import { normalizeByMaximum } from '../../framework/normalize-scores.ts';
import type { Plugin, PluginFactory } from '../../framework/plugin.ts';
import type { PodInfo } from '../../framework/pod-info.ts';
import { SKIP, unresolvable } from '../../framework/status.ts';

const NAME = 'NodeAffinity';
const MISMATCH = unresolvable(NAME, "node(s) didn't match Pod's node affinity/selector");
const ADDED_MISMATCH = unresolvable(NAME, "node(s) didn't match scheduler-enforced node affinity");
const CONFLICT = unresolvable(NAME, 'pod affinity terms conflict');

interface Preference {
  readonly weight: number;
  readonly matches: (node: core.SelectableNode) => boolean;
}

interface RequiredTerms {
  readonly selector: core.NodeMatcher | undefined;
}

interface PreferredTerms {
  readonly preferences: readonly Preference[];
}

/** Nodes must match a pod's nodeSelector and required node affinity; preferred terms add their weights. */
export const nodeAffinity: PluginFactory = (args): Plugin => {
  const added = args.addedAffinity as core.NodeAffinity | undefined;
  const addedRequired = core.compileNodeSelector(added?.requiredDuringSchedulingIgnoredDuringExecution);
  const addedPreferred = compilePreferences(added);
  return {
    name: NAME,
    events: [
      {
        resource: 'Node',
        actions: ['Add', 'UpdateNodeLabel'],
        hint: (pod, { after }) => (mayFit(pod, after as core.Node) ? 'Queue' : 'Skip'),
      },
    ],
    sign: ({ pod: { spec } }) => {
      const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
      return spec?.nodeSelector === undefined && required === undefined ? undefined : [spec?.nodeSelector, required];
    },
    preFilter(state, { pod }) {
      const selector = core.requiredNodeAffinity(pod);
      if (selector === undefined && addedRequired === undefined) return { status: SKIP };
      state.write(NAME, { selector } satisfies RequiredTerms);
      const nodeNames = requiredNames(pod);
      if (nodeNames === undefined) return undefined;
      return nodeNames.size === 0 ? { status: CONFLICT } : { nodeNames };
    },
    filter(state, _, node) {
      if (addedRequired !== undefined && !addedRequired.matches(node)) return ADDED_MISMATCH;
      const { selector } = state.read<RequiredTerms>(NAME)!;
      return selector === undefined || selector.matches(node) ? undefined : MISMATCH;
    },
    preScore(state, { pod }) {
      const preferences = [...addedPreferred, ...compilePreferences(pod.spec?.affinity?.nodeAffinity)];
      if (preferences.length === 0) return SKIP;
      state.write(`${NAME} score`, { preferences } satisfies PreferredTerms);
      return undefined;
    },
    score(state, _, node) {
      let score = 0;
      const { preferences } = state.read<PreferredTerms>(`${NAME} score`)!;
      for (const { weight, matches } of preferences) if (matches(node)) score += weight;
      return score;
    },
    normalizeScores: (_, scores) => normalizeByMaximum(scores, false),
  };
};

function compilePreferences(affinity: core.NodeAffinity | undefined | null): readonly Preference[] {
  return (affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [])
    .filter(({ weight }) => weight > 0)
    .map(({ weight, preference }) => ({ weight, matches: core.compileNodeSelectorTerm(preference) }));
}

function mayFit({ pod }: PodInfo, node: core.Node): boolean {
  const labels = (node.metadata.labels as Labels | undefined) ?? {};
  return core.requiredNodeAffinity(pod)?.matches({ name: node.metadata.name, labels }) ?? true;
}

/** The only nodes that can match, if every term matches node names. */
function requiredNames(pod: core.Pod): ReadonlySet<string> | undefined {
  const terms = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  if (terms.length === 0) return undefined;
  const names = new Set<string>();
  for (const { matchFields } of terms) {
    const named = (matchFields ?? []).filter(({ key, operator }) => key === 'metadata.name' && operator === 'In');
    const [first, ...others] = named.map(({ values }) => new Set(values ?? []));
    if (first === undefined) return undefined;
    for (const name of first) if (others.every((set) => set.has(name))) names.add(name);
  }
  return names;
}
