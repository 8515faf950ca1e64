import { field, type Infer, listOf, object, required, string } from '../../schema.ts';

export const FieldSelectorRequirement = object('io.k8s.apimachinery.pkg.apis.meta.v1.FieldSelectorRequirement', '', {
  key: required(1, string),
  operator: required(2, string),
  values: field(3, listOf(string)),
});
export type FieldSelectorRequirement = Infer<typeof FieldSelectorRequirement>;
