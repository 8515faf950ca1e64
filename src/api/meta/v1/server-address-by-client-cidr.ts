import { type Infer, object, required, string } from '../../schema.ts';

export const ServerAddressByClientCIDR = object(
  'io.k8s.apimachinery.pkg.apis.meta.v1.ServerAddressByClientCIDR',
  'Which address to use from where.',
  {
    clientCIDR: required(1, string, 'Where the client is.'),
    serverAddress: required(2, string, 'The address to use.'),
  },
);
export type ServerAddressByClientCIDR = Infer<typeof ServerAddressByClientCIDR>;
