import { bool, field, type Infer, listOf, message, named, object, required, string, wrappedListOf } from '../../schema.ts';

export const APIResource = object('io.k8s.apimachinery.pkg.apis.meta.v1.APIResource', 'A resource.', {
  name: required(1, string, 'The name in paths.'),
  singularName: required(6, string, 'The name of one.'),
  namespaced: required(2, bool, 'Whether its objects are in namespaces.'),
  group: field(8, string, 'The group of its kind, when it is another one.'),
  version: field(9, string, 'The version of its kind, when it is another one.'),
  kind: required(3, string, 'Its kind.'),
  verbs: required(4, named('v1.Verbs', wrappedListOf(string)), 'What can be done with it.'),
  shortNames: field(5, listOf(string), 'Short names for the command line.'),
  categories: field(7, listOf(string), 'Groups of resources that it is in, such as all.'),
  storageVersionHash: field(10, string, 'Tells whether the version in which it is stored has changed.'),
});
export type APIResource = Infer<typeof APIResource>;

export const APIResourceList = message('io.k8s.apimachinery.pkg.apis.meta.v1.APIResourceList', 'The resources of a version.', {
  groupVersion: required(1, string, 'The group and version.'),
  resources: required(2, listOf(APIResource), 'The resources.'),
});
export type APIResourceList = Infer<typeof APIResourceList>;
