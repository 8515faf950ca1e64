import { GroupVersionKind } from '../../meta/v1/group-version-kind.ts';
import { ListMeta } from '../../meta/v1/list-meta.ts';
import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, field, type Infer, listOf, message, named, object, pointer, string } from '../../schema.ts';

export const APISubresourceDiscovery = object('io.k8s.api.apidiscovery.v2.APISubresourceDiscovery', 'A subresource.', {
  subresource: always(1, string, 'The name in paths.'),
  responseKind: pointer(2, GroupVersionKind, 'The kind that it speaks.'),
  acceptedTypes: field(3, listOf(GroupVersionKind), 'Further kinds that it accepts.'),
  verbs: always(4, listOf(string), 'What can be done with it.'),
});
export type APISubresourceDiscovery = Infer<typeof APISubresourceDiscovery>;

export const APIResourceDiscovery = object('io.k8s.api.apidiscovery.v2.APIResourceDiscovery', 'A resource.', {
  resource: always(1, string, 'The name in paths.'),
  responseKind: pointer(2, GroupVersionKind, 'The kind of its objects.'),
  scope: always(3, named('v2.ResourceScope'), 'Cluster or Namespaced.'),
  singularResource: always(4, string, 'The name of one.'),
  verbs: always(5, listOf(string), 'What can be done with it.'),
  shortNames: field(6, listOf(string), 'Short names for the command line.'),
  categories: field(7, listOf(string), 'Groups of resources that it is in, such as all.'),
  subresources: field(8, listOf(APISubresourceDiscovery), 'Its subresources.'),
});
export type APIResourceDiscovery = Infer<typeof APIResourceDiscovery>;

export const APIVersionDiscovery = object('io.k8s.api.apidiscovery.v2.APIVersionDiscovery', 'A version of a group.', {
  version: always(1, string, 'The version.'),
  resources: field(2, listOf(APIResourceDiscovery), 'Its resources.'),
  freshness: field(3, named('v2.DiscoveryFreshness'), 'Current or Stale.'),
});
export type APIVersionDiscovery = Infer<typeof APIVersionDiscovery>;

export const APIGroupDiscovery = message('io.k8s.api.apidiscovery.v2.APIGroupDiscovery', 'A group.', {
  metadata: always(1, ObjectMeta, "Standard object's metadata."),
  versions: field(2, listOf(APIVersionDiscovery), 'Its versions, the preferred one first.'),
});
export type APIGroupDiscovery = Infer<typeof APIGroupDiscovery>;

export const APIGroupDiscoveryList = message(
  'io.k8s.api.apidiscovery.v2.APIGroupDiscoveryList',
  'All groups, versions and resources in one.',
  {
    metadata: always(1, ListMeta, "Standard object's metadata."),
    items: always(2, listOf(APIGroupDiscovery), 'The groups.'),
  },
);
export type APIGroupDiscoveryList = Infer<typeof APIGroupDiscoveryList>;
