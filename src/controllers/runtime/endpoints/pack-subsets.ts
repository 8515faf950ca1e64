import type { core } from '#api';
import { compareBytes } from '#machinery';

/** One address at one port; without a port for a headless service that has none. */
export interface AddressAtPort {
  readonly address: core.EndpointAddress;
  readonly isReady: boolean;
  readonly port: core.EndpointPort | undefined;
}

/** The canonical form: ports with the same addresses are grouped, and everything is sorted. */
export function packSubsets(entries: readonly AddressAtPort[]): readonly core.EndpointSubset[] {
  const byPort = new Map<string, { port: core.EndpointPort | undefined; addresses: Map<string, AddressAtPort> }>();
  for (const entry of entries) {
    const key = portText(entry.port);
    const group = byPort.get(key) ?? { port: entry.port, addresses: new Map<string, AddressAtPort>() };
    byPort.set(key, group);
    const address = addressKey(entry.address);
    // An address that is ready at one port is ready at all.
    if (entry.isReady || !group.addresses.has(address)) group.addresses.set(address, entry);
  }
  const byAddresses = new Map<string, { ports: core.EndpointPort[]; addresses: readonly AddressAtPort[] }>();
  for (const { port, addresses } of byPort.values()) {
    const sorted = [...addresses.values()].sort((a, b) => compareBytes(addressKey(a.address), addressKey(b.address)));
    const key = sorted.map(({ address, isReady }) => `${addressKey(address)}${isReady}`).join('\n');
    const subset = byAddresses.get(key) ?? { ports: [], addresses: sorted };
    byAddresses.set(key, subset);
    if (port) subset.ports.push(port);
  }
  return [...byAddresses.values()].map(({ ports, addresses }) => subsetOf(ports, addresses)).sort(bySubsetHash);
}

function subsetOf(ports: readonly core.EndpointPort[], entries: readonly AddressAtPort[]): core.EndpointSubset {
  const addresses = entries.filter(({ isReady }) => isReady).map(({ address }) => address);
  const notReadyAddresses = entries.filter(({ isReady }) => !isReady).map(({ address }) => address);
  const sorted = [...ports].sort((a, b) => compareBytes(portHash(a), portHash(b)));
  return {
    ...(addresses.length > 0 && { addresses }),
    ...(notReadyAddresses.length > 0 && { notReadyAddresses }),
    ...(sorted.length > 0 && { ports: sorted }),
  };
}

function addressKey({ ip, targetRef }: core.EndpointAddress): string {
  return `${ip}\0${targetRef?.uid ?? ''}`;
}

function portText(port: core.EndpointPort | undefined): string {
  if (port === undefined) return '';
  const { name = '', port: number, protocol = '', appProtocol } = port;
  return (
    `(v1.EndpointPort){Name:(string)${name} Port:(int32)${number} Protocol:(v1.Protocol)${protocol} ` +
    `AppProtocol:(*string)${appProtocol ?? '<nil>'}}`
  );
}

/** Upstream sorts ports by this hash of their printed form; clients compare the lists. */
function portHash(port: core.EndpointPort): string {
  return fnv128a(portText(port)).toString(16).padStart(32, '0');
}

function bySubsetHash(a: core.EndpointSubset, b: core.EndpointSubset): number {
  const hashes = ({ ports = [] }: core.EndpointSubset) => ports.map(portHash).join();
  return compareBytes(hashes(b), hashes(a));
}

function fnv128a(text: string): bigint {
  let hash = 0x6c62272e07bb014262b821756295c58dn;
  for (const byte of Buffer.from(text, 'utf8')) hash = BigInt.asUintN(128, (hash ^ BigInt(byte)) * 0x1000000000000000000013bn);
  return hash;
}
