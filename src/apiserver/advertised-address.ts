import { isIPv6 } from 'node:net';
import { isLocalHost } from '#base';
import type { ApiServerConfig } from './server.ts';

type AddressConfig = Pick<ApiServerConfig, 'advertiseAddress' | 'hostAddress'> & { readonly listen?: { readonly host: string } };

/** The address in the endpoints of the `kubernetes` service. As upstream, the machine's own if the listen address is unreachable for others. */
export function advertisedAddress({ advertiseAddress, hostAddress, listen }: AddressConfig): string {
  if (advertiseAddress !== undefined) return advertiseAddress;
  const host = listen?.host ?? '127.0.0.1';
  return listen !== undefined && isLocalHost(host) ? (hostAddress ?? host) : host;
}

type ExternalConfig = AddressConfig & Pick<ApiServerConfig, 'externalHostname'>;

/** The host of URLs for clients, as in discovery. */
export function externalHost(config: ExternalConfig): string {
  const { externalHostname, advertiseAddress, listen } = config;
  const host = externalHostname ?? advertiseAddress ?? listen?.host ?? '127.0.0.1';
  const reachable = host === '0.0.0.0' || host === '::' ? advertisedAddress(config) : host;
  return isIPv6(reachable) ? `[${reachable}]` : reachable;
}
