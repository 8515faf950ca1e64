import { always, field, type Infer, listOf, message, object, required, string } from '../../schema.ts';
import { ServerAddressByClientCIDR } from './server-address-by-client-cidr.ts';

export const GroupVersionForDiscovery = object('io.k8s.apimachinery.pkg.apis.meta.v1.GroupVersionForDiscovery', 'A version of a group.', {
  groupVersion: required(1, string, 'The group and version, as group/version.'),
  version: required(2, string, 'The version alone.'),
});
export type GroupVersionForDiscovery = Infer<typeof GroupVersionForDiscovery>;

export const APIGroup = message('io.k8s.apimachinery.pkg.apis.meta.v1.APIGroup', 'An API group.', {
  name: required(1, string, 'The name of the group.'),
  versions: required(2, listOf(GroupVersionForDiscovery), 'The versions that are served.'),
  preferredVersion: always(3, GroupVersionForDiscovery, 'The version to use when there is no reason for another.'),
  serverAddressByClientCIDRs: field(4, listOf(ServerAddressByClientCIDR), 'Which address to use from where.'),
});
export type APIGroup = Infer<typeof APIGroup>;
