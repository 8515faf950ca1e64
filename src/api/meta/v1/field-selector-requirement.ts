import { field, type Infer, listOf, named, object, required, string } from '../../schema.ts';

export const FieldSelectorRequirement = object('io.k8s.apimachinery.pkg.apis.meta.v1.FieldSelectorRequirement', 'A demand on a field.', {
  key: required(1, string, 'The field.'),
  operator: required(2, named('v1.FieldSelectorOperator'), 'In, NotIn, Exists or DoesNotExist.'),
  values: field(3, listOf(string), 'The values to compare with.'),
});
export type FieldSelectorRequirement = Infer<typeof FieldSelectorRequirement>;
