import { isLocalHost } from '#base';
import type { ApiServerConfig } from './server.ts';

type AddressConfig = Pick<ApiServerConfig, 'advertiseAddress' | 'hostAddress'> & { readonly listen?: { readonly host: string } };

/** The address in the endpoints of the `kubernetes` service. As upstream, the machine's own if the listen address is unreachable for others. */
export function advertisedAddress({ advertiseAddress, hostAddress, listen }: AddressConfig): string {
  if (advertiseAddress !== undefined) return advertiseAddress;
  const host = listen?.host ?? '127.0.0.1';
  return listen !== undefined && isLocalHost(host) ? (hostAddress ?? host) : host;
}
