import { atomic, field, type Infer, listOf, named, object, required, string } from '../../../schema.ts';

export const NodeSelectorRequirement = object('io.k8s.api.core.v1.NodeSelectorRequirement', 'A demand on a label or field of a node.', {
  key: required(1, string, 'The key of the label, or the field.'),
  operator: required(2, named('v1.NodeSelectorOperator'), 'In, NotIn, Exists, DoesNotExist, Gt or Lt.'),
  values: field(3, listOf(string), 'The values to compare with.'),
});
export type NodeSelectorRequirement = Infer<typeof NodeSelectorRequirement>;

export const NodeSelectorTerm = atomic(
  object('io.k8s.api.core.v1.NodeSelectorTerm', 'Demands on a node, all of which must hold.', {
    matchExpressions: field(1, listOf(NodeSelectorRequirement), 'Demands on labels.'),
    matchFields: field(2, listOf(NodeSelectorRequirement), 'Demands on fields.'),
  }),
);
export type NodeSelectorTerm = Infer<typeof NodeSelectorTerm>;
