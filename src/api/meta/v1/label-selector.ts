import { atomic, field, type Infer, listOf, mapOf, object, string } from '../../schema.ts';
import { LabelSelectorRequirement } from './label-selector-requirement.ts';

export const LabelSelector = atomic(
  object('io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector', '', {
    matchLabels: field(1, mapOf(string)),
    matchExpressions: field(2, listOf(LabelSelectorRequirement)),
  }),
);
export type LabelSelector = Infer<typeof LabelSelector>;
