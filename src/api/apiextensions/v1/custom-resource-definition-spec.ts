import type { ObjectSchema, structural } from '#machinery';
import {
  any,
  bool,
  bytes,
  double,
  field,
  type Infer,
  int32,
  int64,
  lazyFields,
  listOf,
  mapListOf,
  mapOf,
  named,
  object,
  pointer,
  required,
  schemaOr,
  string,
  type Typed,
} from '../../schema.ts';
import { CustomResourceDefinitionNames } from './custom-resource-definition-names.ts';

export type JSONSchemaProps = structural.JsonSchema;

export const ExternalDocumentation = object(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ExternalDocumentation',
  'Where to read more.',
  {
    description: field(1, string, 'What is there.'),
    url: field(2, string, 'The address.'),
  },
);
export type ExternalDocumentation = Infer<typeof ExternalDocumentation>;

export const ValidationRule = object(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ValidationRule',
  'A CEL rule that must hold.',
  {
    rule: required(1, string, 'The expression, in which self is the value.'),
    message: field(2, string, 'Why, in words.'),
    messageExpression: field(3, string, 'A CEL expression that gives the message.'),
    reason: pointer(4, named('v1.FieldValueErrorReason'), 'Why, as one CamelCase word.'),
    fieldPath: field(5, string, 'The field that the error is about, such as .spec.a.'),
    optionalOldSelf: pointer(6, bool, 'Whether a rule on changes also runs on creation, with oldSelf as an optional.'),
  },
);
export type ValidationRule = Infer<typeof ValidationRule>;

// As upstream, fields that refer to a type have no description: they are published as a plain reference.
export const JSONSchemaProps: Typed<JSONSchemaProps, ObjectSchema> = lazyFields<JSONSchemaProps>(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps',
  'A JSON schema, with extensions of Kubernetes.',
  () => ({
    id: field(1, string, 'Not allowed.'),
    $schema: field(2, named('v1.JSONSchemaURL'), 'Not allowed.'),
    $ref: pointer(3, string, 'Not allowed.'),
    description: field(4, string, 'What the value means.'),
    type: field(5, string, 'object, array, string, integer, number or boolean.'),
    format: field(6, string, 'The format of the value, such as date-time.'),
    title: field(7, string, 'A short name of the value.'),
    default: pointer(8, any('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON'), 'The value when there is none.'),
    maximum: pointer(9, double, 'The greatest number.'),
    exclusiveMaximum: field(10, bool, 'Whether the number must be less than maximum.'),
    minimum: pointer(11, double, 'The least number.'),
    exclusiveMinimum: field(12, bool, 'Whether the number must be greater than minimum.'),
    maxLength: pointer(13, int64, 'The most characters.'),
    minLength: pointer(14, int64, 'The fewest characters.'),
    pattern: field(15, string, 'A regular expression that must match.'),
    maxItems: pointer(16, int64, 'The most items.'),
    minItems: pointer(17, int64, 'The fewest items.'),
    uniqueItems: field(18, bool, 'Not allowed to be true; use a set list.'),
    multipleOf: pointer(19, double, 'What the number must be a multiple of.'),
    enum: field(20, listOf(any('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON')), 'The values that are allowed.'),
    maxProperties: pointer(21, int64, 'The most members.'),
    minProperties: pointer(22, int64, 'The fewest members.'),
    required: field(23, listOf(string), 'Members that must be there.'),
    items: pointer(
      24,
      schemaOr('schemaOrArray', 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray', JSONSchemaProps),
    ),
    allOf: field(25, listOf(JSONSchemaProps), 'Schemas that must all hold.'),
    oneOf: field(26, listOf(JSONSchemaProps), 'Schemas of which exactly one must hold.'),
    anyOf: field(27, listOf(JSONSchemaProps), 'Schemas of which one must hold.'),
    not: pointer(28, JSONSchemaProps),
    properties: field(29, mapOf(JSONSchemaProps), 'What members look like, by name.'),
    additionalProperties: pointer(
      30,
      schemaOr('schemaOrBool', 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool', JSONSchemaProps),
    ),
    patternProperties: field(31, mapOf(JSONSchemaProps), 'Not allowed.'),
    dependencies: field(
      32,
      named(
        'v1.JSONSchemaDependencies',
        mapOf(
          schemaOr(
            'schemaOrStringArray',
            'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrStringArray',
            JSONSchemaProps,
          ),
        ),
      ),
      'Not allowed.',
    ),
    additionalItems: pointer(
      33,
      schemaOr('schemaOrBool', 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool', JSONSchemaProps),
    ),
    definitions: field(34, named('v1.JSONSchemaDefinitions', mapOf(JSONSchemaProps)), 'Not allowed.'),
    externalDocs: pointer(35, ExternalDocumentation),
    example: pointer(36, any('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON')),
    nullable: field(37, bool, 'Whether null is allowed.'),
    'x-kubernetes-preserve-unknown-fields': pointer(38, bool, 'Whether members are kept that the schema does not name.'),
    'x-kubernetes-embedded-resource': field(39, bool, 'Whether the value is an object with apiVersion, kind and metadata.'),
    'x-kubernetes-int-or-string': field(40, bool, 'Whether the value is an integer or a string.'),
    'x-kubernetes-list-map-keys': field(41, listOf(string), 'The keys that identify the items of a map list.'),
    'x-kubernetes-list-type': pointer(42, string, 'atomic, set or map: how lists merge.'),
    'x-kubernetes-map-type': pointer(43, string, 'granular or atomic: how objects merge.'),
    'x-kubernetes-validations': field(44, named('v1.ValidationRules', mapListOf(ValidationRule, 'rule')), 'CEL rules that must hold.', {
      merge: 'rule',
    }),
  }),
);

export const CustomResourceValidation = object(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceValidation',
  'What objects look like.',
  {
    openAPIV3Schema: pointer(1, JSONSchemaProps, 'The schema.'),
  },
);
export type CustomResourceValidation = Infer<typeof CustomResourceValidation>;

export const CustomResourceSubresourceStatus = object(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceSubresourceStatus',
  'The status subresource.',
  {},
);
export type CustomResourceSubresourceStatus = Infer<typeof CustomResourceSubresourceStatus>;

export const CustomResourceSubresourceScale = object(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceSubresourceScale',
  'Where the size is found in objects.',
  {
    specReplicasPath: required(1, string, 'The size that is wanted, as in .spec.replicas.'),
    statusReplicasPath: required(2, string, 'The size that it has, as in .status.replicas.'),
    labelSelectorPath: pointer(3, string, 'The selector of the pods, as in .status.selector.'),
  },
);
export type CustomResourceSubresourceScale = Infer<typeof CustomResourceSubresourceScale>;

export const CustomResourceSubresources = object(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceSubresources',
  'The subresources of a version.',
  {
    status: pointer(1, CustomResourceSubresourceStatus, 'If set, status is written through a path of its own.'),
    scale: pointer(2, CustomResourceSubresourceScale, 'If set, the size is read and written through a path of its own.'),
  },
);
export type CustomResourceSubresources = Infer<typeof CustomResourceSubresources>;

export const CustomResourceColumnDefinition = object(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceColumnDefinition',
  'A column for the command line.',
  {
    name: required(1, string, 'The name.'),
    type: required(2, string, 'The type of the cells: integer, number, string, boolean or date.'),
    format: field(3, string, 'The format of the cells.'),
    description: field(4, string, 'The meaning of the column.'),
    priority: field(5, int32, '0 for columns that are always shown; higher ones only in wide output.'),
    jsonPath: required(6, string, 'Where the value is found, as in .spec.a.'),
  },
);
export type CustomResourceColumnDefinition = Infer<typeof CustomResourceColumnDefinition>;

export const SelectableField = object(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.SelectableField',
  'A field that field selectors can name.',
  {
    jsonPath: required(1, string, 'The field, as in .spec.color.'),
  },
);
export type SelectableField = Infer<typeof SelectableField>;

export const CustomResourceDefinitionVersion = object(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionVersion',
  'A version of a resource.',
  {
    name: required(1, string, 'The version, such as v1 or v1beta1.'),
    served: required(2, bool, 'Whether it is served.'),
    storage: required(3, bool, 'Whether objects are stored in it. Exactly one version is.'),
    deprecated: field(7, bool, 'Whether clients are warned of it.'),
    deprecationWarning: pointer(8, string, 'The warning, when the usual one does not do.'),
    schema: pointer(4, CustomResourceValidation, 'What objects look like.'),
    subresources: pointer(5, CustomResourceSubresources, 'The subresources that it has.'),
    additionalPrinterColumns: field(6, listOf(CustomResourceColumnDefinition), 'Columns for the command line.'),
    selectableFields: field(9, listOf(SelectableField), 'Fields that field selectors can name.'),
  },
);
export type CustomResourceDefinitionVersion = Infer<typeof CustomResourceDefinitionVersion>;

export const ServiceReference = object('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ServiceReference', 'A service to call.', {
  namespace: required(1, string, 'The namespace.'),
  name: required(2, string, 'The name.'),
  path: pointer(3, string, 'The path to call.'),
  port: pointer(4, int32, 'The port; 443 by default.'),
});
export type ServiceReference = Infer<typeof ServiceReference>;

export const WebhookClientConfig = object(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.WebhookClientConfig',
  'How to reach a server.',
  {
    url: pointer(3, string, 'Its address, when it is outside the cluster.'),
    service: pointer(1, ServiceReference, 'Its service, when it is inside.'),
    caBundle: field(2, bytes, 'Certificates that its certificate is checked against, as PEM.'),
  },
);
export type WebhookClientConfig = Infer<typeof WebhookClientConfig>;

export const WebhookConversion = object(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.WebhookConversion',
  'A server that converts objects.',
  {
    clientConfig: pointer(2, WebhookClientConfig, 'How to reach the server.'),
    conversionReviewVersions: required(3, listOf(string), 'The versions of ConversionReview that it understands, the preferred one first.'),
  },
);
export type WebhookConversion = Infer<typeof WebhookConversion>;

export const CustomResourceConversion = object(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceConversion',
  'How objects are brought from one version to another.',
  {
    strategy: required(1, named('v1.ConversionStrategyType'), 'None changes only the apiVersion; Webhook calls a webhook.'),
    webhook: pointer(2, WebhookConversion, 'The server.'),
  },
);
export type CustomResourceConversion = Infer<typeof CustomResourceConversion>;

export const CustomResourceDefinitionSpec = object(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionSpec',
  'A resource to add to the API.',
  {
    group: required(1, string, 'The API group of the resource.'),
    names: required(3, CustomResourceDefinitionNames, 'What the resource and its kind are called.'),
    scope: required(4, named('v1.ResourceScope'), 'Namespaced or Cluster.'),
    versions: required(7, listOf(CustomResourceDefinitionVersion), 'The versions, and the schema of each. One of them is stored.'),
    conversion: pointer(9, CustomResourceConversion, 'How objects are brought from one version to another.'),
    preserveUnknownFields: field(10, bool, 'No longer allowed to be true.'),
  },
);
export type CustomResourceDefinitionSpec = Infer<typeof CustomResourceDefinitionSpec>;
