import { FieldSelectorRequirement } from '../../meta/v1/field-selector-requirement.ts';
import { LabelSelectorRequirement } from '../../meta/v1/label-selector-requirement.ts';
import { field, type Infer, listOf, object, pointer, string } from '../../schema.ts';

export const FieldSelectorAttributes = object('io.k8s.api.authorization.v1.FieldSelectorAttributes', '', {
  rawSelector: field(1, string),
  requirements: field(2, listOf(FieldSelectorRequirement)),
});
export type FieldSelectorAttributes = Infer<typeof FieldSelectorAttributes>;

export const LabelSelectorAttributes = object('io.k8s.api.authorization.v1.LabelSelectorAttributes', '', {
  rawSelector: field(1, string),
  requirements: field(2, listOf(LabelSelectorRequirement)),
});
export type LabelSelectorAttributes = Infer<typeof LabelSelectorAttributes>;

export const ResourceAttributes = object('io.k8s.api.authorization.v1.ResourceAttributes', '', {
  namespace: field(1, string),
  verb: field(2, string),
  group: field(3, string),
  version: field(4, string),
  resource: field(5, string),
  subresource: field(6, string),
  name: field(7, string),
  fieldSelector: pointer(8, FieldSelectorAttributes),
  labelSelector: pointer(9, LabelSelectorAttributes),
});
export type ResourceAttributes = Infer<typeof ResourceAttributes>;
