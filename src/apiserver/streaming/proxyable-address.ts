import { lookup } from 'node:dns/promises';
import { networkContains, parseCidr, parseIp } from '#base';
import { StatusError } from '#machinery';

/** Addresses that are not global unicast in Go's sense: the proxy must not reach the server's own machine. */
const FORBIDDEN = [
  '0.0.0.0/32',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '224.0.0.0/4',
  '255.255.255.255/32',
  '::/128',
  '::1/128',
  'fe80::/10',
  'ff00::/8',
];

/** Throws a StatusError (400) for addresses that must not be proxied to. */
export function checkProxyable(ip: string): void {
  const address = parseIp(ip);
  if (address === undefined) throw StatusError.badRequest('address not allowed');
  for (const text of FORBIDDEN) if (networkContains(parseCidr(text)!, address)) throw StatusError.badRequest('address not allowed');
}

/** Resolves a host name; throws if any of its addresses is forbidden. */
export async function proxyableAddress(host: string): Promise<string> {
  const addresses = parseIp(host) === undefined ? await lookup(host, { all: true }) : [{ address: host }];
  if (addresses.length === 0) throw StatusError.badRequest('no valid ip resolved for host');
  for (const { address } of addresses) checkProxyable(address);
  return addresses[0]!.address;
}
