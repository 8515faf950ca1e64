import { field, type Infer, listOf, object, required, string } from '../../schema.ts';

export const CustomResourceDefinitionNames = object(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionNames',
  'What a resource and its kind are called.',
  {
    plural: required(1, string, 'The name in paths, in lower case.'),
    singular: field(2, string, 'The name of one, for the command line.'),
    shortNames: field(3, listOf(string), 'Short names for the command line.'),
    kind: required(4, string, 'The kind, in CamelCase.'),
    listKind: field(5, string, 'The kind of its lists.'),
    categories: field(6, listOf(string), 'Groups of resources that it is in, such as all.'),
  },
);
export type CustomResourceDefinitionNames = Infer<typeof CustomResourceDefinitionNames>;
