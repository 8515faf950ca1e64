import { atomic, field, type Infer, listOf, object, required, string } from '../../schema.ts';

export const TopologySelectorLabelRequirement = object('io.k8s.api.core.v1.TopologySelectorLabelRequirement', '', {
  key: required(1, string, 'The key.'),
  values: required(2, listOf(string)),
});
export type TopologySelectorLabelRequirement = Infer<typeof TopologySelectorLabelRequirement>;

export const TopologySelectorTerm = atomic(
  object('io.k8s.api.core.v1.TopologySelectorTerm', '', {
    matchLabelExpressions: field(1, listOf(TopologySelectorLabelRequirement)),
  }),
);
export type TopologySelectorTerm = Infer<typeof TopologySelectorTerm>;
