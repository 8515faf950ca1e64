import type { core } from '#api';
import { pushAll } from '#base';
import { compareBytes } from '#machinery';

/** One address at one port; without a port for a headless service that has none. */
export interface AddressAtPort {
  readonly address: core.EndpointAddress;
  readonly isReady: boolean;
  readonly port: core.EndpointPort | undefined;
}

/** An object lists addresses and ports, so a few megabytes could result in billions of pairs. Endpoints have at most 1000 addresses. */
const MAX_PAIRS = 250_000;

/** The pairs of as many addresses as fit. Each item is one address with all of its ports. */
export function boundedPairs(addresses: Iterable<readonly AddressAtPort[]>): AddressAtPort[] {
  const pairs: AddressAtPort[] = [];
  for (const atPorts of addresses) {
    if (pairs.length > 0 && pairs.length + atPorts.length > MAX_PAIRS) break;
    pushAll(pairs, atPorts);
  }
  return pairs;
}

/** The canonical form: ports with the same addresses are grouped, and everything is sorted. */
export function packSubsets(entries: readonly AddressAtPort[]): readonly core.EndpointSubset[] {
  const [textOf, keyOf] = [oncePerItem(portText), oncePerItem(addressKey)];
  const byPort = new Map<string, { port: core.EndpointPort | undefined; addresses: Map<string, AddressAtPort> }>();
  for (const entry of entries) {
    const key = entry.port === undefined ? '' : textOf(entry.port);
    const group = byPort.get(key) ?? { port: entry.port, addresses: new Map<string, AddressAtPort>() };
    byPort.set(key, group);
    const address = keyOf(entry.address);
    // An address that is ready at one port counts as ready.
    if (entry.isReady || !group.addresses.has(address)) group.addresses.set(address, entry);
  }
  const byAddresses = new Map<string, { ports: core.EndpointPort[]; addresses: readonly AddressAtPort[] }>();
  for (const { port, addresses } of byPort.values()) {
    const sorted = [...addresses.values()].sort((a, b) => compareBytes(keyOf(a.address), keyOf(b.address)));
    const key = sorted.map(({ address, isReady }) => `${keyOf(address)}${isReady}`).join('\n');
    const subset = byAddresses.get(key) ?? { ports: [], addresses: sorted };
    byAddresses.set(key, subset);
    if (port) subset.ports.push(port);
  }
  return [...byAddresses.values()]
    .map(({ ports, addresses }) => hashedSubset(ports, addresses))
    .sort((a, b) => compareBytes(b.hashes, a.hashes))
    .map(({ subset }) => subset);
}

/** There may be thousands of ports, and as many pairs for each. */
function oncePerItem<T>(textOf: (item: T) => string): (item: T) => string {
  const texts = new Map<T, string>();
  return (item) => {
    let text = texts.get(item);
    if (text === undefined) {
      text = textOf(item);
      texts.set(item, text);
    }
    return text;
  };
}

interface HashedSubset {
  readonly subset: core.EndpointSubset;
  /** Of its ports, by which upstream sorts subsets. */
  readonly hashes: string;
}

function hashedSubset(ports: readonly core.EndpointPort[], entries: readonly AddressAtPort[]): HashedSubset {
  const addresses = entries.filter(({ isReady }) => isReady).map(({ address }) => address);
  const notReadyAddresses = entries.filter(({ isReady }) => !isReady).map(({ address }) => address);
  const hashed = ports.map((port) => ({ port, hash: portHash(port) })).sort((a, b) => compareBytes(a.hash, b.hash));
  const subset = {
    ...(addresses.length > 0 && { addresses }),
    ...(notReadyAddresses.length > 0 && { notReadyAddresses }),
    ...(hashed.length > 0 && { ports: hashed.map(({ port }) => port) }),
  };
  return { subset, hashes: hashed.map(({ hash }) => hash).join() };
}

function addressKey({ ip, targetRef }: core.EndpointAddress): string {
  return `${ip}\0${targetRef?.uid ?? ''}`;
}

function portText(port: core.EndpointPort): string {
  const { name = '', port: number, protocol = '', appProtocol } = port;
  return (
    `(v1.EndpointPort){Name:(string)${name} Port:(int32)${number} Protocol:(v1.Protocol)${protocol} ` +
    `AppProtocol:(*string)${appProtocol ?? '<nil>'}}`
  );
}

/** Upstream sorts ports by this hash of their printed form; clients compare the lists. */
function portHash(port: core.EndpointPort): string {
  return fnv128a(portText(port));
}

const WORD = 2 ** 32;
/** The prime is 2^88 + this. */
const FNV_PRIME_LOW = 0x13b;

/** FNV-1a of 128 bits in hexadecimal, from words of 32 bits: a service may have thousands of ports, and BigInts would take seconds. */
function fnv128a(text: string): string {
  let [a, b, c, d] = [0x6295c58d, 0x62b82175, 0x07bb0142, 0x6c62272e];
  for (const byte of Buffer.from(text, 'utf8')) {
    const x = (a ^ byte) >>> 0;
    const first = x * FNV_PRIME_LOW;
    const second = b * FNV_PRIME_LOW + Math.floor(first / WORD);
    const third = c * FNV_PRIME_LOW + Math.floor(second / WORD) + ((x << 24) >>> 0);
    const fourth = d * FNV_PRIME_LOW + Math.floor(third / WORD) + (x >>> 8) + ((b << 24) >>> 0);
    [a, b, c, d] = [first >>> 0, second >>> 0, third >>> 0, fourth >>> 0];
  }
  return [d, c, b, a].map((word) => word.toString(16).padStart(8, '0')).join('');
}
