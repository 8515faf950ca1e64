import { createHash } from 'node:crypto';
import type { core } from '#api';
import { formatIp, type IpNetwork, type NetworkCommand, networkContains, parseCidr, parseIp } from '#base';
import { hostRoute, isIpv6 } from './pod-interface.ts';

export const VXLAN_DEVICE = 'sampan-vxlan';
/** flannel's port, which firewalls often allow. */
const VXLAN_PORT = 8472;
const VXLAN_ID = 1;
export const VXLAN_OVERHEAD = { 4: 50, 6: 70 } as const;

/** How pods of other nodes are reached: by routes if the nodes share a link, else through VXLAN. */
export type Backend = 'auto' | 'host-gw' | 'vxlan' | 'none';

/** Another node. */
export interface Peer {
  readonly name: string;
  readonly podCidrs: readonly string[];
  /** Its internal addresses, at most one per family. */
  readonly addresses: readonly string[];
}

/** This node. */
export interface LocalNode {
  readonly name: string;
  readonly addresses: readonly string[];
  /** The networks of its links, such as 192.168.1.5/24. */
  readonly linkNetworks: readonly string[];
}

export interface DirectRoute {
  readonly cidr: string;
  readonly via: string;
}

export interface TunnelRoute {
  readonly cidr: string;
  /** The peer's tunnel address: the first of its range. */
  readonly via: string;
  readonly mac: string;
  readonly remote: string;
}

export interface RoutePlan {
  readonly direct: readonly DirectRoute[];
  readonly tunnel: readonly TunnelRoute[];
  /** Unreachable ranges, with the reason. */
  readonly unreachable: readonly { readonly node: string; readonly cidr: string; readonly reason: string }[];
}

export function peerOf(node: core.Node): Peer {
  const podCidrs = node.spec?.podCIDRs ?? (node.spec?.podCIDR ? [node.spec.podCIDR] : []);
  return { name: node.metadata?.name ?? '', podCidrs: podCidrs.filter((cidr) => parseCidr(cidr)), addresses: internalAddresses(node) };
}

export function internalAddresses(node: core.Node): readonly string[] {
  const addresses = (node.status?.addresses ?? []).filter(({ type, address }) => type === 'InternalIP' && parseIp(address));
  return addresses.map(({ address }) => address);
}

export function planRoutes(local: LocalNode, peers: readonly Peer[], backend: Backend): RoutePlan {
  const direct: DirectRoute[] = [];
  const tunnel: TunnelRoute[] = [];
  const unreachable: { node: string; cidr: string; reason: string }[] = [];
  const links = local.linkNetworks.map(parseCidr).filter((network) => network !== undefined);
  for (const peer of peers) {
    if (peer.name === local.name || backend === 'none') continue;
    for (const cidr of peer.podCidrs) {
      const gateway = peer.addresses.find((address) => isIpv6(address) === isIpv6(cidr));
      const remote =
        local.addresses.length === 0 ? undefined : peer.addresses.find((a) => local.addresses.some((l) => isIpv6(l) === isIpv6(a)));
      const isOnLinkGateway = gateway !== undefined && isOnLink(links, gateway);
      if (isOnLinkGateway && backend !== 'vxlan') direct.push({ cidr, via: gateway });
      else if (backend === 'host-gw') unreachable.push({ node: peer.name, cidr, reason: 'no link is shared with the node' });
      else if (remote === undefined) unreachable.push({ node: peer.name, cidr, reason: 'the node has no address of a family of ours' });
      else tunnel.push({ cidr, via: firstAddress(cidr), mac: tunnelMac(peer.name), remote });
    }
  }
  return { direct, tunnel, unreachable };
}

function isOnLink(links: readonly IpNetwork[], address: string): boolean {
  const parsed = parseIp(address);
  return parsed !== undefined && links.some((network) => networkContains(network, parsed));
}

function firstAddress(cidr: string): string {
  const { family, base } = parseCidr(cidr)!;
  return formatIp({ family, value: base });
}

/** Derived from the node's name, so that nodes need not publish it. */
export function tunnelMac(nodeName: string): string {
  const [a = 0, b = 0, c = 0, d = 0] = createHash('sha256').update(`vxlan ${nodeName}`).digest();
  return ['0e', '53', ...[a, b, c, d].map((byte) => byte.toString(16).padStart(2, '0'))].join(':');
}

/** The commands that create this node's tunnel device. */
export function tunnelDevice(local: LocalNode, podCidrs: readonly string[], mtu: number): readonly NetworkCommand[] {
  const address = local.addresses[0];
  if (address === undefined) throw new Error(`node ${local.name} has no address for a tunnel to start from`);
  const tunnel = ['type', 'vxlan', 'id', `${VXLAN_ID}`, 'dstport', `${VXLAN_PORT}`, 'local', address, 'nolearning'];
  return [
    ['link', 'add', VXLAN_DEVICE, 'address', tunnelMac(local.name), 'mtu', `${mtu}`, ...tunnel],
    // Before it is up: then the kernel has given it an address already.
    ['link', 'set', VXLAN_DEVICE, 'addrgenmode', 'none'],
    ['link', 'set', VXLAN_DEVICE, 'up'],
    ...podCidrs.map((cidr): NetworkCommand => {
      // The address is unique: without duplicate address detection it can be used at once.
      return ['addr', 'replace', hostRoute(firstAddress(cidr)), 'dev', VXLAN_DEVICE, ...(isIpv6(cidr) ? ['nodad'] : [])];
    }),
  ];
}

export interface RouteCommands {
  readonly ip: readonly NetworkCommand[];
  readonly bridge: readonly NetworkCommand[];
}

/** The route protocol that marks our routes. */
export const ROUTE_PROTOCOL = '83';

/** The commands from one plan to the next. */
export function routeChanges(previous: RoutePlan, next: RoutePlan): RouteCommands {
  const ip: NetworkCommand[] = [];
  const bridge: NetworkCommand[] = [];
  const before = new Map([...previous.direct, ...previous.tunnel].map((route) => [route.cidr, JSON.stringify(route)]));
  const after = new Map([...next.direct, ...next.tunnel].map((route) => [route.cidr, JSON.stringify(route)]));
  for (const cidr of before.keys()) if (!after.has(cidr)) ip.push(['route', 'del', cidr, 'proto', ROUTE_PROTOCOL]);
  for (const { cidr, via } of next.direct.filter(({ cidr }) => before.get(cidr) !== after.get(cidr)))
    ip.push(['route', 'replace', cidr, 'via', via, 'proto', ROUTE_PROTOCOL]);
  for (const route of next.tunnel.filter(({ cidr }) => before.get(cidr) !== after.get(cidr))) {
    ip.push(['neigh', 'replace', route.via, 'lladdr', route.mac, 'dev', VXLAN_DEVICE, 'nud', 'permanent']);
    ip.push(['route', 'replace', route.cidr, 'via', route.via, 'dev', VXLAN_DEVICE, 'onlink', 'proto', ROUTE_PROTOCOL]);
    bridge.push(['fdb', 'replace', route.mac, 'dev', VXLAN_DEVICE, 'dst', route.remote]);
  }
  return { ip, bridge };
}
