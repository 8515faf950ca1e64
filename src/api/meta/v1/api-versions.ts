import { type Infer, listOf, message, required, string } from '../../schema.ts';
import { ServerAddressByClientCIDR } from './server-address-by-client-cidr.ts';

export const APIVersions = message('io.k8s.apimachinery.pkg.apis.meta.v1.APIVersions', 'The versions of the core API.', {
  versions: required(1, listOf(string), 'The versions.'),
  serverAddressByClientCIDRs: required(2, listOf(ServerAddressByClientCIDR), 'Which address to use from where.'),
});
export type APIVersions = Infer<typeof APIVersions>;
