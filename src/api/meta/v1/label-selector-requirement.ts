import { field, type Infer, listOf, object, required, string } from '../../schema.ts';

export const LabelSelectorRequirement = object('io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelectorRequirement', '', {
  key: required(1, string),
  operator: required(2, string),
  values: field(3, listOf(string)),
});
export type LabelSelectorRequirement = Infer<typeof LabelSelectorRequirement>;
