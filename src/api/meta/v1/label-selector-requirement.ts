import { field, type Infer, listOf, named, object, required, string } from '../../schema.ts';

export const LabelSelectorRequirement = object('io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelectorRequirement', 'A demand on a label.', {
  key: required(1, string, 'The key of the label.'),
  operator: required(2, named('v1.LabelSelectorOperator'), 'In, NotIn, Exists or DoesNotExist.'),
  values: field(3, listOf(string), 'The values to compare with.'),
});
export type LabelSelectorRequirement = Infer<typeof LabelSelectorRequirement>;
