import { atomic, field, type Infer, listOf, mapOf, object, string } from '../../schema.ts';
import { LabelSelectorRequirement } from './label-selector-requirement.ts';

export const LabelSelector = atomic(
  object('io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector', 'Selects objects by labels. Empty selects all.', {
    matchLabels: field(1, mapOf(string), 'Labels that must be there.'),
    matchExpressions: field(2, listOf(LabelSelectorRequirement), 'Further demands on labels; all must hold.'),
  }),
);
export type LabelSelector = Infer<typeof LabelSelector>;
