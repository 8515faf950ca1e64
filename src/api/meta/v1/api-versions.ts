import { type Infer, listOf, message, required, string } from '../../schema.ts';
import { ServerAddressByClientCIDR } from './server-address-by-client-cidr.ts';

export const APIVersions = message('io.k8s.apimachinery.pkg.apis.meta.v1.APIVersions', '', {
  versions: required(1, listOf(string)),
  serverAddressByClientCIDRs: required(2, listOf(ServerAddressByClientCIDR)),
});
export type APIVersions = Infer<typeof APIVersions>;
