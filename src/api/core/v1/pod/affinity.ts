import { LabelSelector } from '../../../meta/v1/label-selector.ts';
import { field, type Infer, int32, listOf, object, pointer, required, string } from '../../../schema.ts';
import { NodeSelector } from '../node-selector/node-selector.ts';
import { NodeSelectorTerm } from '../node-selector/node-selector-term.ts';

export const PreferredSchedulingTerm = object('io.k8s.api.core.v1.PreferredSchedulingTerm', 'What makes a node more welcome.', {
  weight: required(1, int32, 'How much, from 1 to 100.'),
  preference: required(2, NodeSelectorTerm, 'What the node must match.'),
});
export type PreferredSchedulingTerm = Infer<typeof PreferredSchedulingTerm>;

export const NodeAffinity = object('io.k8s.api.core.v1.NodeAffinity', 'Rules by which nodes are required or preferred.', {
  requiredDuringSchedulingIgnoredDuringExecution: pointer(1, NodeSelector, 'What a node must match.'),
  preferredDuringSchedulingIgnoredDuringExecution: field(
    2,
    listOf(PreferredSchedulingTerm),
    'What makes a node more welcome, with weights.',
  ),
});
export type NodeAffinity = Infer<typeof NodeAffinity>;

export const PodAffinityTerm = object('io.k8s.api.core.v1.PodAffinityTerm', 'Pods, and the region that counts as near them.', {
  labelSelector: pointer(1, LabelSelector, 'Labels of the pods.'),
  namespaces: field(2, listOf(string), "The namespaces of the pods; the pod's own by default."),
  topologyKey: required(3, string, 'The label of nodes whose equal values count as near.'),
  namespaceSelector: pointer(4, LabelSelector, 'Labels of the namespaces of the pods.'),
  matchLabelKeys: field(5, listOf(string), 'Keys whose values in the new pod the others must share.'),
  mismatchLabelKeys: field(6, listOf(string), 'Keys whose values in the new pod the others must not share.'),
});
export type PodAffinityTerm = Infer<typeof PodAffinityTerm>;

export const WeightedPodAffinityTerm = object('io.k8s.api.core.v1.WeightedPodAffinityTerm', 'What company makes a node more welcome.', {
  weight: required(1, int32, 'How much, from 1 to 100.'),
  podAffinityTerm: required(2, PodAffinityTerm, 'The company.'),
});
export type WeightedPodAffinityTerm = Infer<typeof WeightedPodAffinityTerm>;

export const PodAffinity = object('io.k8s.api.core.v1.PodAffinity', 'Rules by which a pod is placed near other pods.', {
  requiredDuringSchedulingIgnoredDuringExecution: field(1, listOf(PodAffinityTerm), 'What must hold.'),
  preferredDuringSchedulingIgnoredDuringExecution: field(
    2,
    listOf(WeightedPodAffinityTerm),
    'What makes a node more welcome, with weights.',
  ),
});
export type PodAffinity = Infer<typeof PodAffinity>;

export const PodAntiAffinity = object('io.k8s.api.core.v1.PodAntiAffinity', 'Rules by which a pod is placed away from other pods.', {
  requiredDuringSchedulingIgnoredDuringExecution: field(1, listOf(PodAffinityTerm), 'What must hold.'),
  preferredDuringSchedulingIgnoredDuringExecution: field(
    2,
    listOf(WeightedPodAffinityTerm),
    'What makes a node more welcome, with weights.',
  ),
});
export type PodAntiAffinity = Infer<typeof PodAntiAffinity>;

export const Affinity = object('io.k8s.api.core.v1.Affinity', 'Scheduling rules for nodes and for other pods.', {
  nodeAffinity: pointer(1, NodeAffinity, 'Which nodes.'),
  podAffinity: pointer(2, PodAffinity, 'Near which pods.'),
  podAntiAffinity: pointer(3, PodAntiAffinity, 'Away from which pods.'),
});
export type Affinity = Infer<typeof Affinity>;
