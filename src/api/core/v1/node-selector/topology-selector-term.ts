import { atomic, field, type Infer, listOf, object, required, string } from '../../../schema.ts';

export const TopologySelectorLabelRequirement = object('io.k8s.api.core.v1.TopologySelectorLabelRequirement', 'A demand on a label.', {
  key: required(1, string, 'The key.'),
  values: required(2, listOf(string), 'The values, of which one must match.'),
});
export type TopologySelectorLabelRequirement = Infer<typeof TopologySelectorLabelRequirement>;

export const TopologySelectorTerm = atomic(
  object('io.k8s.api.core.v1.TopologySelectorTerm', 'Selects topologies by labels; all requirements must match.', {
    matchLabelExpressions: field(1, listOf(TopologySelectorLabelRequirement), 'Demands on labels.'),
  }),
);
export type TopologySelectorTerm = Infer<typeof TopologySelectorTerm>;
