import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, field, type Infer, int64, kind, listOf, mapListOf, object, required, string, time } from '../../schema.ts';
import { CustomResourceDefinitionNames } from './custom-resource-definition-names.ts';
import { CustomResourceDefinitionSpec } from './custom-resource-definition-spec.ts';

export const CustomResourceDefinitionCondition = object(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionCondition',
  '',
  {
    type: required(1, string),
    status: required(2, string),
    lastTransitionTime: always(3, time),
    reason: field(4, string),
    message: field(5, string),
    observedGeneration: field(6, int64),
  },
);
export type CustomResourceDefinitionCondition = Infer<typeof CustomResourceDefinitionCondition>;

export const CustomResourceDefinitionStatus = object(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionStatus',
  '',
  {
    conditions: always(1, mapListOf(CustomResourceDefinitionCondition, 'type')),
    acceptedNames: always(2, CustomResourceDefinitionNames),
    storedVersions: always(3, listOf(string)),
    observedGeneration: field(4, int64),
  },
);
export type CustomResourceDefinitionStatus = Infer<typeof CustomResourceDefinitionStatus>;

export const CustomResourceDefinition = kind(
  {
    name: 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition',
    group: 'apiextensions.k8s.io',
    version: 'v1',
    kind: 'CustomResourceDefinition',
    resource: 'customresourcedefinitions',
    namespaced: false,
    shortNames: ['crd', 'crds'],
    categories: ['api-extensions'],
  },
  '',
  {
    metadata: always(1, ObjectMeta),
    spec: required(2, CustomResourceDefinitionSpec),
    status: always(3, CustomResourceDefinitionStatus),
  },
);
export type CustomResourceDefinition = Infer<typeof CustomResourceDefinition>;
