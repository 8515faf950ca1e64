import { LabelSelector } from '../../meta/v1/label-selector.ts';
import { field, type Infer, int32, listOf, object, pointer, required, string } from '../../schema.ts';
import { NodeSelector } from './node-selector.ts';
import { NodeSelectorTerm } from './node-selector-term.ts';

export const PreferredSchedulingTerm = object('io.k8s.api.core.v1.PreferredSchedulingTerm', '', {
  weight: required(1, int32),
  preference: required(2, NodeSelectorTerm),
});
export type PreferredSchedulingTerm = Infer<typeof PreferredSchedulingTerm>;

export const NodeAffinity = object('io.k8s.api.core.v1.NodeAffinity', '', {
  requiredDuringSchedulingIgnoredDuringExecution: pointer(1, NodeSelector),
  preferredDuringSchedulingIgnoredDuringExecution: field(2, listOf(PreferredSchedulingTerm)),
});
export type NodeAffinity = Infer<typeof NodeAffinity>;

export const PodAffinityTerm = object('io.k8s.api.core.v1.PodAffinityTerm', '', {
  labelSelector: pointer(1, LabelSelector),
  namespaces: field(2, listOf(string)),
  topologyKey: required(3, string),
  namespaceSelector: pointer(4, LabelSelector),
  matchLabelKeys: field(5, listOf(string)),
  mismatchLabelKeys: field(6, listOf(string)),
});
export type PodAffinityTerm = Infer<typeof PodAffinityTerm>;

export const WeightedPodAffinityTerm = object('io.k8s.api.core.v1.WeightedPodAffinityTerm', '', {
  weight: required(1, int32),
  podAffinityTerm: required(2, PodAffinityTerm),
});
export type WeightedPodAffinityTerm = Infer<typeof WeightedPodAffinityTerm>;

export const PodAffinity = object('io.k8s.api.core.v1.PodAffinity', '', {
  requiredDuringSchedulingIgnoredDuringExecution: field(1, listOf(PodAffinityTerm)),
  preferredDuringSchedulingIgnoredDuringExecution: field(2, listOf(WeightedPodAffinityTerm)),
});
export type PodAffinity = Infer<typeof PodAffinity>;

export const PodAntiAffinity = object('io.k8s.api.core.v1.PodAntiAffinity', '', {
  requiredDuringSchedulingIgnoredDuringExecution: field(1, listOf(PodAffinityTerm)),
  preferredDuringSchedulingIgnoredDuringExecution: field(2, listOf(WeightedPodAffinityTerm)),
});
export type PodAntiAffinity = Infer<typeof PodAntiAffinity>;

export const Affinity = object('io.k8s.api.core.v1.Affinity', '', {
  nodeAffinity: pointer(1, NodeAffinity),
  podAffinity: pointer(2, PodAffinity),
  podAntiAffinity: pointer(3, PodAntiAffinity),
});
export type Affinity = Infer<typeof Affinity>;
