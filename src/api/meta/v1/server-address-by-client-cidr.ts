import { type Infer, object, required, string } from '../../schema.ts';

export const ServerAddressByClientCIDR = object('io.k8s.apimachinery.pkg.apis.meta.v1.ServerAddressByClientCIDR', '', {
  clientCIDR: required(1, string),
  serverAddress: required(2, string),
});
export type ServerAddressByClientCIDR = Infer<typeof ServerAddressByClientCIDR>;
