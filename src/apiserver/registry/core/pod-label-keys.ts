import type { core, meta } from '#api';

type Labels = Readonly<Record<string, string>>;
type PodSpec = core.PodSpec;

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

/** matchLabelKeys and mismatchLabelKeys: merges the pod's own label values into the selectors. */
export function withPodLabelKeys(spec: PodSpec, labels: Labels): PodSpec {
  const { affinity, topologySpreadConstraints } = spec;
  if (!affinity?.podAffinity && !affinity?.podAntiAffinity && !topologySpreadConstraints) return spec;
  return {
    ...spec,
    ...(affinity && { affinity: affinityWithLabels(affinity, labels) }),
    ...(topologySpreadConstraints && {
      topologySpreadConstraints: topologySpreadConstraints.map((constraint) => withSelector(constraint, labels)),
    }),
  };
}

function affinityWithLabels(affinity: core.Affinity, labels: Labels): core.Affinity {
  const { podAffinity, podAntiAffinity } = affinity;
  return {
    ...affinity,
    ...(podAffinity && { podAffinity: termsWithLabels(podAffinity, labels) }),
    ...(podAntiAffinity && { podAntiAffinity: termsWithLabels(podAntiAffinity, labels) }),
  };
}

function termsWithLabels(affinity: core.PodAffinity, labels: Labels): core.PodAffinity {
  const required = affinity[REQUIRED];
  const preferred = affinity[PREFERRED];
  return {
    ...affinity,
    ...(required && { [REQUIRED]: required.map((term) => withSelector(term, labels)) }),
    ...(preferred && {
      [PREFERRED]: preferred.map((weighted) => ({ ...weighted, podAffinityTerm: withSelector(weighted.podAffinityTerm, labels) })),
    }),
  };
}

interface KeyedTerm {
  readonly labelSelector?: meta.LabelSelector;
  readonly matchLabelKeys?: readonly string[];
  readonly mismatchLabelKeys?: readonly string[];
}

function withSelector<T extends KeyedTerm>(term: T, labels: Labels): T {
  const { labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] } = term;
  if (!labelSelector) return term;
  const added = [...expressions(matchLabelKeys, 'In', labels), ...expressions(mismatchLabelKeys, 'NotIn', labels)];
  if (added.length === 0) return term;
  return { ...term, labelSelector: { ...labelSelector, matchExpressions: [...(labelSelector.matchExpressions ?? []), ...added] } };
}

function expressions(keys: readonly string[], operator: 'In' | 'NotIn', labels: Labels): meta.LabelSelectorRequirement[] {
  return keys.flatMap((key) => {
    const value = labels[key];
    return value === undefined ? [] : [{ key, operator, values: [value] }];
  });
}
