import type { core } from '#api';
import { type LabelSelectorObject, type Labels, labelSelectorText, lenientSelector, type Selector } from '#machinery';

/** The labels of namespaces, for terms that select those. */
export interface NamespaceLabels {
  labelsOf(namespace: string): Labels | undefined;
}

/** One term of a pod's (anti-)affinity to other pods, compiled. */
export interface AffinityTerm {
  /** Terms with the same id match the same pods by the same topology. */
  readonly id: string;
  readonly topologyKey: string;
  readonly namespaces: ReadonlySet<string>;
  readonly namespaceSelector: Selector;
  readonly selector: Selector;
}

export interface WeightedTerm {
  readonly term: AffinityTerm;
  readonly weight: number;
}

export interface PodAffinityTerms {
  readonly requiredAffinity: readonly AffinityTerm[];
  readonly requiredAntiAffinity: readonly AffinityTerm[];
  readonly preferredAffinity: readonly WeightedTerm[];
  readonly preferredAntiAffinity: readonly WeightedTerm[];
}

export const NO_TERMS: PodAffinityTerms = {
  requiredAffinity: [],
  requiredAntiAffinity: [],
  preferredAffinity: [],
  preferredAntiAffinity: [],
};

export function affinityTermsOf(pod: core.Pod): PodAffinityTerms {
  const { podAffinity, podAntiAffinity } = pod.spec?.affinity ?? {};
  if (podAffinity == null && podAntiAffinity == null) return NO_TERMS;
  const namespace = pod.metadata.namespace ?? '';
  const required = (terms: readonly core.PodAffinityTerm[] | undefined) => (terms ?? []).map((term) => compileTerm(term, namespace));
  const preferred = (terms: readonly core.WeightedPodAffinityTerm[] | undefined) =>
    (terms ?? []).map(({ weight, podAffinityTerm }) => ({ weight, term: compileTerm(podAffinityTerm, namespace) }));
  return {
    requiredAffinity: required(podAffinity?.requiredDuringSchedulingIgnoredDuringExecution),
    requiredAntiAffinity: required(podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution),
    preferredAffinity: preferred(podAffinity?.preferredDuringSchedulingIgnoredDuringExecution),
    preferredAntiAffinity: preferred(podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution),
  };
}

export function compileTerm(term: core.PodAffinityTerm, namespace: string): AffinityTerm {
  const named = term.namespaces ?? [];
  const ownOnly = named.length === 0 && term.namespaceSelector == null;
  const namespaces = new Set(ownOnly ? [namespace] : named);
  const labelSelector = term.labelSelector as LabelSelectorObject | undefined;
  const namespaceSelector = term.namespaceSelector as LabelSelectorObject | undefined;
  return {
    id: JSON.stringify([term.topologyKey, [...namespaces].sort(), selectorId(namespaceSelector), selectorId(labelSelector)]),
    topologyKey: term.topologyKey,
    namespaces,
    namespaceSelector: lenientSelector(namespaceSelector),
    selector: lenientSelector(labelSelector),
  };
}

/** No selector matches nothing, an empty one everything: their ids must differ. */
function selectorId(object: LabelSelectorObject | undefined): string | null {
  return object == null ? null : labelSelectorText(object);
}

export interface LabelledPod {
  readonly namespace: string;
  readonly labels: Labels;
}

export function termMatches(term: AffinityTerm, pod: LabelledPod, namespaces: NamespaceLabels): boolean {
  return selectsNamespace(term, pod.namespace, namespaces) && term.selector.matches(pod.labels);
}

function selectsNamespace({ namespaces, namespaceSelector }: AffinityTerm, namespace: string, labels: NamespaceLabels): boolean {
  if (namespaces.has(namespace)) return true;
  return !namespaceSelector.matchesNothing && namespaceSelector.matches(labels.labelsOf(namespace) ?? {});
}
