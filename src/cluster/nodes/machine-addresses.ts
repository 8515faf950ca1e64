import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';

/** The machine's external addresses, at most one per family: those of the interface with the default route. */
export function machineAddresses(): readonly string[] {
  const interfaces = networkInterfaces();
  const name = defaultRouteInterface();
  const candidates = name === undefined ? [] : (interfaces[name] ?? []);
  const family = (version: 'IPv4' | 'IPv6') =>
    candidates.find((address) => address.family === version && !address.internal && !isLinkLocal(address.address))?.address;
  const addresses = [family('IPv4'), family('IPv6')].filter((address) => address !== undefined);
  return addresses.length > 0 ? addresses : ['127.0.0.1'];
}

function isLinkLocal(address: string): boolean {
  return address.startsWith('fe80:') || address.startsWith('169.254.');
}

function defaultRouteInterface(): string | undefined {
  try {
    const [, ...routes] = readFileSync('/proc/net/route', 'utf8').trim().split('\n');
    // Name, destination, gateway, flags, …, and the mask as the eighth field.
    const fields = routes.map((route) => route.trim().split(/\s+/));
    return fields.find(([, destination, , , , , , mask]) => destination === '00000000' && mask === '00000000')?.[0];
  } catch {
    return undefined;
  }
}
