import type { core } from '#api';
import type { Labels } from '#machinery';
import {
  compileNodeSelector,
  compileNodeSelectorTerm,
  type NodeSelector,
  requiredNodeAffinity,
  type SelectableNode,
} from '../../framework/node-selector.ts';
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
  readonly matches: (node: SelectableNode) => boolean;
}

interface Required {
  readonly selector: NodeSelector | undefined;
}

interface Preferred {
  readonly preferences: readonly Preference[];
}

/** Nodes must match a pod's nodeSelector and required node affinity; preferred terms add their weights. */
export const nodeAffinity: PluginFactory = (args): Plugin => {
  const added = args.addedAffinity as core.NodeAffinity | undefined;
  const addedRequired = compileNodeSelector(added?.requiredDuringSchedulingIgnoredDuringExecution);
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
      const selector = requiredNodeAffinity(pod);
      if (selector === undefined && addedRequired === undefined) return { status: SKIP };
      state.write(NAME, { selector } satisfies Required);
      const nodeNames = requiredNames(pod);
      if (nodeNames === undefined) return undefined;
      return nodeNames.size === 0 ? { status: CONFLICT } : { nodeNames };
    },
    filter(state, _, node) {
      if (addedRequired !== undefined && !addedRequired.matches(node)) return ADDED_MISMATCH;
      const { selector } = state.read<Required>(NAME)!;
      return selector === undefined || selector.matches(node) ? undefined : MISMATCH;
    },
    preScore(state, { pod }) {
      const preferences = [...addedPreferred, ...compilePreferences(pod.spec?.affinity?.nodeAffinity)];
      if (preferences.length === 0) return SKIP;
      state.write(`${NAME} score`, { preferences } satisfies Preferred);
      return undefined;
    },
    score(state, _, node) {
      let score = 0;
      const { preferences } = state.read<Preferred>(`${NAME} score`)!;
      for (const { weight, matches } of preferences) if (matches(node)) score += weight;
      return score;
    },
    normalizeScores: (_, scores) => normalizeByMaximum(scores, false),
  };
};

function compilePreferences(affinity: core.NodeAffinity | undefined | null): readonly Preference[] {
  return (affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [])
    .filter(({ weight }) => weight > 0)
    .map(({ weight, preference }) => ({ weight, matches: compileNodeSelectorTerm(preference) }));
}

function mayFit({ pod }: PodInfo, node: core.Node): boolean {
  const labels = (node.metadata.labels as Labels | undefined) ?? {};
  return requiredNodeAffinity(pod)?.matches({ name: node.metadata.name, labels }) ?? true;
}

/** The only nodes that can match, when every term names its nodes. */
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
