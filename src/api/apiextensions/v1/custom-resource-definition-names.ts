import { field, type Infer, listOf, object, required, string } from '../../schema.ts';

export const CustomResourceDefinitionNames = object(
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionNames',
  '',
  {
    plural: required(1, string),
    singular: field(2, string),
    shortNames: field(3, listOf(string)),
    kind: required(4, string),
    listKind: field(5, string),
    categories: field(6, listOf(string)),
  },
);
export type CustomResourceDefinitionNames = Infer<typeof CustomResourceDefinitionNames>;
