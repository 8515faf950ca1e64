import { bool, field, type Infer, listOf, message, object, required, string, wrappedListOf } from '../../schema.ts';

export const APIResource = object('io.k8s.apimachinery.pkg.apis.meta.v1.APIResource', '', {
  name: required(1, string),
  singularName: required(6, string),
  namespaced: required(2, bool),
  group: field(8, string),
  version: field(9, string),
  kind: required(3, string),
  verbs: required(4, wrappedListOf(string)),
  shortNames: field(5, listOf(string)),
  categories: field(7, listOf(string)),
  storageVersionHash: field(10, string),
});
export type APIResource = Infer<typeof APIResource>;

export const APIResourceList = message('io.k8s.apimachinery.pkg.apis.meta.v1.APIResourceList', '', {
  groupVersion: required(1, string),
  resources: required(2, listOf(APIResource)),
});
export type APIResourceList = Infer<typeof APIResourceList>;
