import { atomic, field, type Infer, listOf, object, required, string } from '../../schema.ts';

export const NodeSelectorRequirement = object('io.k8s.api.core.v1.NodeSelectorRequirement', '', {
  key: required(1, string),
  operator: required(2, string),
  values: field(3, listOf(string)),
});
export type NodeSelectorRequirement = Infer<typeof NodeSelectorRequirement>;

export const NodeSelectorTerm = atomic(
  object('io.k8s.api.core.v1.NodeSelectorTerm', '', {
    matchExpressions: field(1, listOf(NodeSelectorRequirement)),
    matchFields: field(2, listOf(NodeSelectorRequirement)),
  }),
);
export type NodeSelectorTerm = Infer<typeof NodeSelectorTerm>;
