import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, field, type Infer, int64, kind, listOf, mapListOf, named, object, required, string, time } from '../../schema.ts';
import { CustomResourceDefinitionNames } from './custom-resource-definition-names.ts';
import { CustomResourceDefinitionSpec } from './custom-resource-definition-spec.ts';

export const CustomResourceDefinitionCondition = object(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionCondition',
  'One finding about a custom resource.',
  {
    type: required(1, named('v1.CustomResourceDefinitionConditionType'), 'The type of finding.'),
    status: required(2, named('v1.ConditionStatus'), 'True, False or Unknown.'),
    lastTransitionTime: always(3, time, 'When the status last changed.'),
    reason: field(4, string, 'Why, as one CamelCase word.'),
    message: field(5, string, 'Why, in words.'),
    observedGeneration: field(6, int64, 'The generation of the object that the finding is about.'),
  },
);
export type CustomResourceDefinitionCondition = Infer<typeof CustomResourceDefinitionCondition>;

export const CustomResourceDefinitionStatus = object(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionStatus',
  'How far a resource is served.',
  {
    conditions: always(1, mapListOf(CustomResourceDefinitionCondition, 'type'), 'NamesAccepted, Established, Terminating and others.'),
    acceptedNames: always(2, CustomResourceDefinitionNames, 'The names under which it is served.'),
    storedVersions: always(3, listOf(string), 'Every version that objects were ever stored in.'),
    observedGeneration: field(4, int64, 'The generation that this status is about.'),
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
  'Adds a resource to the API.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    spec: required(2, CustomResourceDefinitionSpec, 'The resource.'),
    status: always(3, CustomResourceDefinitionStatus, 'How far it is served.'),
  },
);
export type CustomResourceDefinition = Infer<typeof CustomResourceDefinition>;
