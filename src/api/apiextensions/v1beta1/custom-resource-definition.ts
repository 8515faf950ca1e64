import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, bool, field, type Infer, int32, listOf, object, pointer, required, string } from '../../schema.ts';
import { CustomResourceDefinitionStatus } from '../v1/custom-resource-definition.ts';
import { CustomResourceDefinitionNames } from '../v1/custom-resource-definition-names.ts';
import {
  CustomResourceSubresources,
  CustomResourceValidation,
  SelectableField,
  WebhookClientConfig,
} from '../v1/custom-resource-definition-spec.ts';

// The version that upstream stores definitions in. It is not served.

const named = (kind: string) => `io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1beta1.${kind}`;

export const CustomResourceColumnDefinition = object(named('CustomResourceColumnDefinition'), 'A column for the command line.', {
  name: required(1, string, 'The name.'),
  type: required(2, string, 'The type of the cells: integer, number, string, boolean or date.'),
  format: field(3, string, 'The format of the cells.'),
  description: field(4, string, 'What the column tells.'),
  priority: field(5, int32, '0 for columns that are always shown; higher ones only in wide output.'),
  JSONPath: required(6, string, 'Where the value is found, as in .spec.a.'),
});
export type CustomResourceColumnDefinition = Infer<typeof CustomResourceColumnDefinition>;

export const CustomResourceDefinitionVersion = object(named('CustomResourceDefinitionVersion'), 'A version of a resource.', {
  name: required(1, string, 'The version, such as v1 or v1beta1.'),
  served: required(2, bool, 'Whether it is served.'),
  storage: required(3, bool, 'Whether objects are stored in it.'),
  deprecated: field(7, bool, 'Whether clients are warned of it.'),
  deprecationWarning: pointer(8, string, 'The warning, if it is not the usual one.'),
  schema: pointer(4, CustomResourceValidation, 'What objects look like.'),
  subresources: pointer(5, CustomResourceSubresources, 'The subresources that it has.'),
  additionalPrinterColumns: field(6, listOf(CustomResourceColumnDefinition), 'Columns for the command line.'),
  selectableFields: field(9, listOf(SelectableField), 'Fields that field selectors can name.'),
});
export type CustomResourceDefinitionVersion = Infer<typeof CustomResourceDefinitionVersion>;

export const CustomResourceConversion = object(named('CustomResourceConversion'), 'How objects are converted between versions.', {
  strategy: required(1, string, 'None changes apiVersion alone; Webhook asks a server.'),
  webhookClientConfig: pointer(2, WebhookClientConfig, 'How to reach the server.'),
  conversionReviewVersions: field(3, listOf(string), 'The versions of ConversionReview that the server accepts.'),
});
export type CustomResourceConversion = Infer<typeof CustomResourceConversion>;

export const CustomResourceDefinitionSpec = object(named('CustomResourceDefinitionSpec'), 'A resource to add to the API.', {
  group: required(1, string, 'The API group of the resource.'),
  version: field(2, string, 'The name of the first version.'),
  names: required(3, CustomResourceDefinitionNames, 'The names of the resource and its kind.'),
  scope: required(4, string, 'Namespaced or Cluster.'),
  validation: pointer(5, CustomResourceValidation, 'The schema of all versions.'),
  subresources: pointer(6, CustomResourceSubresources, 'The subresources of all versions.'),
  versions: field(7, listOf(CustomResourceDefinitionVersion), 'The versions.'),
  additionalPrinterColumns: field(8, listOf(CustomResourceColumnDefinition), 'The columns of all versions.'),
  selectableFields: field(11, listOf(SelectableField), 'The fields of all versions that field selectors can name.'),
  conversion: pointer(9, CustomResourceConversion, 'How objects are converted between versions.'),
  preserveUnknownFields: pointer(10, bool, 'Whether fields outside the schema are kept. Default: true.'),
});
export type CustomResourceDefinitionSpec = Infer<typeof CustomResourceDefinitionSpec>;

export const CustomResourceDefinition = object(named('CustomResourceDefinition'), 'Adds a resource to the API.', {
  metadata: always(1, ObjectMeta, "Standard object's metadata."),
  spec: required(2, CustomResourceDefinitionSpec, 'The resource.'),
  status: always(3, CustomResourceDefinitionStatus, 'How far it is served.'),
});
export type CustomResourceDefinition = Infer<typeof CustomResourceDefinition>;
