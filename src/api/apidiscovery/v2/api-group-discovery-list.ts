import { GroupVersionKind } from '../../meta/v1/group-version-kind.ts';
import { ListMeta } from '../../meta/v1/list-meta.ts';
import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, field, type Infer, listOf, message, object, pointer, string } from '../../schema.ts';

export const APISubresourceDiscovery = object('io.k8s.api.apidiscovery.v2.APISubresourceDiscovery', '', {
  subresource: always(1, string),
  responseKind: pointer(2, GroupVersionKind),
  acceptedTypes: field(3, listOf(GroupVersionKind)),
  verbs: always(4, listOf(string)),
});
export type APISubresourceDiscovery = Infer<typeof APISubresourceDiscovery>;

export const APIResourceDiscovery = object('io.k8s.api.apidiscovery.v2.APIResourceDiscovery', '', {
  resource: always(1, string),
  responseKind: pointer(2, GroupVersionKind),
  scope: always(3, string),
  singularResource: always(4, string),
  verbs: always(5, listOf(string)),
  shortNames: field(6, listOf(string)),
  categories: field(7, listOf(string)),
  subresources: field(8, listOf(APISubresourceDiscovery)),
});
export type APIResourceDiscovery = Infer<typeof APIResourceDiscovery>;

export const APIVersionDiscovery = object('io.k8s.api.apidiscovery.v2.APIVersionDiscovery', '', {
  version: always(1, string),
  resources: field(2, listOf(APIResourceDiscovery)),
  freshness: field(3, string),
});
export type APIVersionDiscovery = Infer<typeof APIVersionDiscovery>;

export const APIGroupDiscovery = message('io.k8s.api.apidiscovery.v2.APIGroupDiscovery', '', {
  metadata: always(1, ObjectMeta, 'Standard object metadata.'),
  versions: field(2, listOf(APIVersionDiscovery)),
});
export type APIGroupDiscovery = Infer<typeof APIGroupDiscovery>;

export const APIGroupDiscoveryList = message('io.k8s.api.apidiscovery.v2.APIGroupDiscoveryList', '', {
  metadata: always(1, ListMeta, 'Standard object metadata.'),
  items: always(2, listOf(APIGroupDiscovery)),
});
export type APIGroupDiscoveryList = Infer<typeof APIGroupDiscoveryList>;
