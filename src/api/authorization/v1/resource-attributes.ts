import { FieldSelectorRequirement } from '../../meta/v1/field-selector-requirement.ts';
import { LabelSelectorRequirement } from '../../meta/v1/label-selector-requirement.ts';
import { field, type Infer, listOf, object, pointer, string } from '../../schema.ts';

export const FieldSelectorAttributes = object('io.k8s.api.authorization.v1.FieldSelectorAttributes', 'The field selector of a request.', {
  rawSelector: field(1, string, 'The selector as text.'),
  requirements: field(2, listOf(FieldSelectorRequirement), "The selector's demands."),
});
export type FieldSelectorAttributes = Infer<typeof FieldSelectorAttributes>;

export const LabelSelectorAttributes = object('io.k8s.api.authorization.v1.LabelSelectorAttributes', 'The label selector of a request.', {
  rawSelector: field(1, string, 'The selector as text.'),
  requirements: field(2, listOf(LabelSelectorRequirement), "The selector's demands."),
});
export type LabelSelectorAttributes = Infer<typeof LabelSelectorAttributes>;

export const ResourceAttributes = object('io.k8s.api.authorization.v1.ResourceAttributes', 'A request for a resource.', {
  namespace: field(1, string, "The namespace; '' for all, or for what has none."),
  verb: field(2, string, 'What is done: get, list, create, update, delete and so on; * for all.'),
  group: field(3, string, 'The API group; * for all.'),
  version: field(4, string, 'The API version; * for all.'),
  resource: field(5, string, 'The resource; * for all.'),
  subresource: field(6, string, "The subresource; '' for none."),
  name: field(7, string, "The object; '' for all."),
  fieldSelector: pointer(8, FieldSelectorAttributes, 'The field selector of the request.'),
  labelSelector: pointer(9, LabelSelectorAttributes, 'The label selector of the request.'),
});
export type ResourceAttributes = Infer<typeof ResourceAttributes>;
