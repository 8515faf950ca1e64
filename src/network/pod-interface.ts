import { createHash } from 'node:crypto';
import { type KernelNetwork, type NetworkCommand, parseIp } from '#base';
import { attachmentId } from './attachment-store.ts';
import type { AttachmentKey, Bandwidth } from './cni/cni-request.ts';

/** The name prefix of host interfaces, matched by rules for all pods. */
export const HOST_INTERFACE_PREFIX = 'sampod';
/** The MAC address of all host interfaces: each pod is alone on its link. */
const HOST_MAC = '02:53:61:6d:70:6e';
const SHAPER_LATENCY = '25ms';
const MIN_BURST_BYTES = 64 * 1024;

export function hostInterfaceName(key: AttachmentKey): string {
  const digest = createHash('sha256').update(attachmentId(key)).digest('hex');
  return `${HOST_INTERFACE_PREFIX}${digest.slice(0, 9)}`;
}

export function isIpv6(address: string): boolean {
  return address.includes(':');
}

export function hostRoute(address: string): string {
  return `${address}/${isIpv6(address) ? 128 : 32}`;
}

/** Derived from the address, so that neighbour caches stay valid when the address moves to another pod. */
export function podMac(addresses: readonly string[]): string {
  const ipv4 = addresses.find((address) => !isIpv6(address));
  const value = ipv4 === undefined ? createHash('sha256').update(addresses.join()).digest().readUInt32BE() : Number(parseIp(ipv4)?.value);
  const bytes = [0x0a, 0x58, value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255];
  return bytes.map((byte) => byte.toString(16).padStart(2, '0')).join(':');
}

export interface PodInterface {
  readonly netns: string;
  readonly ifName: string;
  readonly hostInterface: string;
  readonly addresses: readonly string[];
  /** One per address, in the same order. */
  readonly gateways: readonly string[];
  readonly mtu: number;
  readonly bandwidth: Bandwidth;
}

/**
 * Creates the veth pair: the pod's end with its addresses, the host's end with a route to each. Pods are routed, not
 * bridged: every packet passes the host's rules, even if the kernel cannot filter bridged traffic.
 */
export async function createPodInterface(kernel: KernelNetwork, pod: PodInterface): Promise<void> {
  await kernel.ip(hostCommands(pod));
  await kernel.ip(podCommands(pod), { netns: pod.netns });
  const { ingressRate, ingressBurst, egressRate, egressBurst } = pod.bandwidth;
  // Egress of the host's end is ingress of the pod.
  if (ingressRate) await kernel.tc([shaper(pod.hostInterface, ingressRate, ingressBurst)]);
  if (egressRate) await kernel.tc([shaper(pod.ifName, egressRate, egressBurst)], { netns: pod.netns });
}

function hostCommands({ hostInterface, ifName, netns, mtu, addresses, gateways }: PodInterface): readonly NetworkCommand[] {
  const mac = podMac(addresses);
  const peer = ['peer', 'name', ifName, 'address', mac, 'mtu', `${mtu}`, 'netns', netns];
  return [
    ['link', 'add', hostInterface, 'address', HOST_MAC, 'mtu', `${mtu}`, 'type', 'veth', ...peer],
    ['link', 'set', hostInterface, 'addrgenmode', 'none', 'up'],
    ...addresses.flatMap((address, i): NetworkCommand[] => [
      ['neigh', 'replace', address, 'lladdr', mac, 'dev', hostInterface, 'nud', 'permanent'],
      ['route', 'replace', hostRoute(address), 'dev', hostInterface, 'src', gateways[i]!],
    ]),
  ];
}

function podCommands({ ifName, addresses, gateways }: PodInterface): readonly NetworkCommand[] {
  return [
    ['link', 'set', 'lo', 'up'],
    ['link', 'set', ifName, 'addrgenmode', 'none', 'up'],
    ...addresses.flatMap((address, i): NetworkCommand[] => {
      const gateway = gateways[i]!;
      return [
        ['addr', 'add', hostRoute(address), 'dev', ifName, ...(isIpv6(address) ? ['nodad'] : [])],
        ['neigh', 'replace', gateway, 'lladdr', HOST_MAC, 'dev', ifName, 'nud', 'permanent'],
        ['route', 'add', hostRoute(gateway), 'dev', ifName, ...(isIpv6(address) ? [] : ['scope', 'link'])],
        ['route', 'add', 'default', 'via', gateway, 'dev', ifName],
      ];
    }),
  ];
}

/** An unset burst is unlimited in the runtime's request: it is capped at a tenth of a second's worth. */
function shaper(device: string, bitsPerSecond: number, burstBits = Infinity): NetworkCommand {
  const burst = Math.max(MIN_BURST_BYTES, Math.min(burstBits / 8, bitsPerSecond / 80));
  const rate = `${Math.max(8, Math.floor(bitsPerSecond))}bit`;
  return ['qdisc', 'replace', 'dev', device, 'root', 'tbf', 'rate', rate, 'burst', `${Math.floor(burst)}`, 'latency', SHAPER_LATENCY];
}

/** Deletes both ends. */
export async function deletePodInterface(kernel: KernelNetwork, hostInterface: string): Promise<void> {
  await kernel.ip([['link', 'del', hostInterface]], { force: true });
}

interface LinkAddresses {
  readonly addr_info?: readonly { readonly local?: string }[];
  readonly operstate?: string;
}

/** What is wrong with a pod's interface; undefined if nothing. */
export async function podInterfaceProblem(
  kernel: KernelNetwork,
  pod: Pick<PodInterface, 'netns' | 'ifName' | 'hostInterface' | 'addresses'>,
) {
  try {
    const [link] = (await kernel.ipJson(['addr', 'show', 'dev', pod.ifName], pod.netns)) as readonly LinkAddresses[];
    const present = new Set(link?.addr_info?.map(({ local }) => local));
    const missing = pod.addresses.filter((address) => !present.has(address));
    if (missing.length > 0) return `${pod.ifName} does not have ${missing.join(', ')}`;
    for (const address of pod.addresses) {
      const family = isIpv6(address) ? '-6' : '-4';
      const routes = (await kernel.ipJson([family, 'route', 'show', hostRoute(address), 'dev', pod.hostInterface])) as readonly unknown[];
      if (routes.length === 0) return `the node has no route to ${address}`;
    }
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
