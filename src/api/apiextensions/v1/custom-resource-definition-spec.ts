import type { ObjectSchema } from '#machinery';
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
  object,
  pointer,
  required,
  schemaOr,
  string,
  type Typed,
} from '../../schema.ts';
import { CustomResourceDefinitionNames } from './custom-resource-definition-names.ts';

/** TS shape of a schema node; it contains itself, so it is written out. */
export interface JSONSchemaProps {
  readonly id?: string;
  readonly $schema?: string;
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string;
  readonly format?: string;
  readonly title?: string;
  readonly default?: unknown;
  readonly maximum?: number;
  readonly exclusiveMaximum?: boolean;
  readonly minimum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly maxLength?: number;
  readonly minLength?: number;
  readonly pattern?: string;
  readonly maxItems?: number;
  readonly minItems?: number;
  readonly uniqueItems?: boolean;
  readonly multipleOf?: number;
  readonly enum?: readonly unknown[];
  readonly maxProperties?: number;
  readonly minProperties?: number;
  readonly required?: readonly string[];
  readonly items?: JSONSchemaProps | readonly JSONSchemaProps[];
  readonly allOf?: readonly JSONSchemaProps[];
  readonly oneOf?: readonly JSONSchemaProps[];
  readonly anyOf?: readonly JSONSchemaProps[];
  readonly not?: JSONSchemaProps;
  readonly properties?: Readonly<Record<string, JSONSchemaProps>>;
  readonly additionalProperties?: JSONSchemaProps | boolean;
  readonly patternProperties?: Readonly<Record<string, JSONSchemaProps>>;
  readonly dependencies?: Readonly<Record<string, JSONSchemaProps | readonly string[]>>;
  readonly additionalItems?: JSONSchemaProps | boolean;
  readonly definitions?: Readonly<Record<string, JSONSchemaProps>>;
  readonly externalDocs?: ExternalDocumentation;
  readonly example?: unknown;
  readonly nullable?: boolean;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-map-type'?: string;
  readonly 'x-kubernetes-validations'?: readonly ValidationRule[];
}

export const ExternalDocumentation = object('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ExternalDocumentation', '', {
  description: field(1, string),
  url: field(2, string),
});
export type ExternalDocumentation = Infer<typeof ExternalDocumentation>;

export const ValidationRule = object('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ValidationRule', '', {
  rule: required(1, string),
  message: field(2, string, 'Why, in words.'),
  messageExpression: field(3, string),
  reason: pointer(4, string, 'Why, as one CamelCase word.'),
  fieldPath: field(5, string),
  optionalOldSelf: pointer(6, bool),
});
export type ValidationRule = Infer<typeof ValidationRule>;

export const JSONSchemaProps: Typed<JSONSchemaProps, ObjectSchema> = lazyFields<JSONSchemaProps>(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps',
  '',
  () => ({
    id: field(1, string),
    $schema: field(2, string),
    $ref: pointer(3, string),
    description: field(4, string),
    type: field(5, string),
    format: field(6, string),
    title: field(7, string),
    default: pointer(8, any('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON')),
    maximum: pointer(9, double),
    exclusiveMaximum: field(10, bool),
    minimum: pointer(11, double),
    exclusiveMinimum: field(12, bool),
    maxLength: pointer(13, int64),
    minLength: pointer(14, int64),
    pattern: field(15, string),
    maxItems: pointer(16, int64),
    minItems: pointer(17, int64),
    uniqueItems: field(18, bool),
    multipleOf: pointer(19, double),
    enum: field(20, listOf(any('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON'))),
    maxProperties: pointer(21, int64),
    minProperties: pointer(22, int64),
    required: field(23, listOf(string)),
    items: pointer(
      24,
      schemaOr('schemaOrArray', 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray', JSONSchemaProps),
    ),
    allOf: field(25, listOf(JSONSchemaProps)),
    oneOf: field(26, listOf(JSONSchemaProps)),
    anyOf: field(27, listOf(JSONSchemaProps)),
    not: pointer(28, JSONSchemaProps),
    properties: field(29, mapOf(JSONSchemaProps)),
    additionalProperties: pointer(
      30,
      schemaOr('schemaOrBool', 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool', JSONSchemaProps),
    ),
    patternProperties: field(31, mapOf(JSONSchemaProps)),
    dependencies: field(
      32,
      mapOf(
        schemaOr(
          'schemaOrStringArray',
          'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrStringArray',
          JSONSchemaProps,
        ),
      ),
    ),
    additionalItems: pointer(
      33,
      schemaOr('schemaOrBool', 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool', JSONSchemaProps),
    ),
    definitions: field(34, mapOf(JSONSchemaProps)),
    externalDocs: pointer(35, ExternalDocumentation),
    example: pointer(36, any('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON')),
    nullable: field(37, bool),
    'x-kubernetes-preserve-unknown-fields': pointer(38, bool),
    'x-kubernetes-embedded-resource': field(39, bool),
    'x-kubernetes-int-or-string': field(40, bool),
    'x-kubernetes-list-map-keys': field(41, listOf(string)),
    'x-kubernetes-list-type': pointer(42, string),
    'x-kubernetes-map-type': pointer(43, string),
    'x-kubernetes-validations': field(44, mapListOf(ValidationRule, 'rule'), '', { merge: 'rule' }),
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
  '',
  {},
);
export type CustomResourceSubresourceStatus = Infer<typeof CustomResourceSubresourceStatus>;

export const CustomResourceSubresourceScale = object(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceSubresourceScale',
  '',
  {
    specReplicasPath: required(1, string),
    statusReplicasPath: required(2, string),
    labelSelectorPath: pointer(3, string),
  },
);
export type CustomResourceSubresourceScale = Infer<typeof CustomResourceSubresourceScale>;

export const CustomResourceSubresources = object(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceSubresources',
  '',
  {
    status: pointer(1, CustomResourceSubresourceStatus),
    scale: pointer(2, CustomResourceSubresourceScale),
  },
);
export type CustomResourceSubresources = Infer<typeof CustomResourceSubresources>;

export const CustomResourceColumnDefinition = object(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceColumnDefinition',
  '',
  {
    name: required(1, string, 'The name.'),
    type: required(2, string),
    format: field(3, string),
    description: field(4, string),
    priority: field(5, int32),
    jsonPath: required(6, string),
  },
);
export type CustomResourceColumnDefinition = Infer<typeof CustomResourceColumnDefinition>;

export const SelectableField = object('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.SelectableField', '', {
  jsonPath: required(1, string),
});
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

export const ServiceReference = object('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ServiceReference', '', {
  namespace: required(1, string, 'The namespace.'),
  name: required(2, string, 'The name.'),
  path: pointer(3, string),
  port: pointer(4, int32),
});
export type ServiceReference = Infer<typeof ServiceReference>;

export const WebhookClientConfig = object('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.WebhookClientConfig', '', {
  url: pointer(3, string),
  service: pointer(1, ServiceReference),
  caBundle: field(2, bytes),
});
export type WebhookClientConfig = Infer<typeof WebhookClientConfig>;

export const WebhookConversion = object('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.WebhookConversion', '', {
  clientConfig: pointer(2, WebhookClientConfig),
  conversionReviewVersions: required(3, listOf(string)),
});
export type WebhookConversion = Infer<typeof WebhookConversion>;

export const CustomResourceConversion = object('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceConversion', '', {
  strategy: required(1, string),
  webhook: pointer(2, WebhookConversion),
});
export type CustomResourceConversion = Infer<typeof CustomResourceConversion>;

export const CustomResourceDefinitionSpec = object(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionSpec',
  'A resource to add to the API.',
  {
    group: required(1, string, 'The API group of the resource.'),
    names: required(3, CustomResourceDefinitionNames, 'What the resource and its kind are called.'),
    scope: required(4, string, 'Namespaced or Cluster.'),
    versions: required(7, listOf(CustomResourceDefinitionVersion), 'The versions, and the schema of each. One of them is stored.'),
    conversion: pointer(9, CustomResourceConversion, 'How objects are brought from one version to another.'),
    preserveUnknownFields: field(10, bool, 'No longer allowed to be true.'),
  },
);
export type CustomResourceDefinitionSpec = Infer<typeof CustomResourceDefinitionSpec>;
