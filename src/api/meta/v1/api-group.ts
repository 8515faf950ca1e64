import { always, field, type Infer, listOf, message, object, required, string } from '../../schema.ts';
import { ServerAddressByClientCIDR } from './server-address-by-client-cidr.ts';

export const GroupVersionForDiscovery = object('io.k8s.apimachinery.pkg.apis.meta.v1.GroupVersionForDiscovery', '', {
  groupVersion: required(1, string),
  version: required(2, string),
});
export type GroupVersionForDiscovery = Infer<typeof GroupVersionForDiscovery>;

export const APIGroup = message('io.k8s.apimachinery.pkg.apis.meta.v1.APIGroup', '', {
  name: required(1, string),
  versions: required(2, listOf(GroupVersionForDiscovery)),
  preferredVersion: always(3, GroupVersionForDiscovery),
  serverAddressByClientCIDRs: field(4, listOf(ServerAddressByClientCIDR)),
});
export type APIGroup = Infer<typeof APIGroup>;
