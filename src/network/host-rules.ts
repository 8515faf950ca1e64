import { parseCidr, parseIp } from '#base';
import type { Attachment } from './attachment-store.ts';
import { HOST_INTERFACE_PREFIX, isIpv6 } from './pod-interface.ts';

export const HOST_TABLE = 'sampan-network';

export interface HostRulesInput {
  /** The ranges of this node's pods. */
  readonly podCidrs: readonly string[];
  /** Destinations without masquerading: all pods and nodes. */
  readonly clusterCidrs: readonly string[];
  /** Iterated once per family, so not an iterator. */
  readonly attachments: readonly Pick<Attachment, 'addresses' | 'portMappings'>[];
  /** Whether traffic that leaves the cluster is masqueraded. */
  readonly masquerade: boolean;
}

interface Family {
  readonly family: 'ip' | 'ip6';
  readonly type: 'ipv4_addr' | 'ipv6_addr';
  readonly multicast: string;
  readonly loopback: string;
}

const FAMILIES: readonly Family[] = [
  { family: 'ip', type: 'ipv4_addr', multicast: '224.0.0.0/4', loopback: '127.0.0.0/8' },
  { family: 'ip6', type: 'ipv6_addr', multicast: 'ff00::/8', loopback: '::1' },
];

/** The node's table as one script that replaces the existing one. Families without a pod CIDR have no table. */
export function hostRules(input: HostRulesInput): string {
  return FAMILIES.map((family) => {
    const isPodCidr = input.podCidrs.some((cidr) => isOf(family, cidr));
    return `${removeTable(family.family)}${isPodCidr ? tableText(family, input) : ''}`;
  }).join('');
}

export function removeHostRules(): string {
  return FAMILIES.map(({ family }) => removeTable(family)).join('');
}

/** Deleting a missing table fails; adding an existing one does not. */
function removeTable(family: string): string {
  return `table ${family} ${HOST_TABLE} {}\ndelete table ${family} ${HOST_TABLE}\n`;
}

function isOf({ family }: Family, address: string): boolean {
  return isIpv6(address) === (family === 'ip6');
}

function tableText(family: Family, input: HostRulesInput): string {
  const { family: ip, type, multicast, loopback } = family;
  const ports = hostPorts(family, input.attachments);
  const masquerade = `    ${ip} saddr @pods ${ip} daddr != @cluster ${ip} daddr != ${multicast} masquerade fully-random\n`;
  return `table ${ip} ${HOST_TABLE} {
  set pods { type ${type}; flags interval; auto-merge; ${elements(input.podCidrs.filter((cidr) => isOf(family, cidr)))} }
  set cluster { type ${type}; flags interval; auto-merge; ${elements(input.clusterCidrs.filter((cidr) => isOf(family, cidr)))} }
  set hairpin { type ${type} . ${type}; ${elements(ports.hairpin)} }
  map host-ports { type inet_proto . inet_service : ${type} . inet_service; ${elements(ports.everywhere)} }
  map host-address-ports { type ${type} . inet_proto . inet_service : ${type} . inet_service; ${elements(ports.atAddress)} }
  chain source-check {
    type filter hook prerouting priority raw; policy accept;
    iifname "${HOST_INTERFACE_PREFIX}*" ${ip} daddr ${loopback} drop
    iifname "${HOST_INTERFACE_PREFIX}*" ${sourceMissing(ip)} drop
  }
  chain host-ports {
    dnat to ${ip} daddr . meta l4proto . th dport map @host-address-ports
    dnat to meta l4proto . th dport map @host-ports
  }
  chain prerouting {
    type nat hook prerouting priority -105; policy accept;
    fib daddr type local goto host-ports
  }
  chain output {
    type nat hook output priority -105; policy accept;
    fib daddr type local goto host-ports
  }
  chain postrouting {
    type nat hook postrouting priority srcnat; policy accept;
    ct status dnat ${ip} saddr ${loopback} oifname "${HOST_INTERFACE_PREFIX}*" masquerade
    ct status dnat ${ip} saddr . ${ip} daddr @hairpin masquerade
${input.masquerade ? masquerade : ''}  }
}
`;
}

/** Drops spoofed packets: a pod may send only from its own address. Link-local IPv6 is left to the kernel. */
function sourceMissing(ip: Family['family']): string {
  return ip === 'ip6' ? 'ip6 saddr != fe80::/10 fib saddr . iif oif missing' : 'fib saddr . iif oif missing';
}

function elements(items: readonly string[]): string {
  return items.length === 0 ? '' : `elements = { ${items.join(', ')} };`;
}

interface HostPortElements {
  readonly everywhere: readonly string[];
  readonly atAddress: readonly string[];
  readonly hairpin: readonly string[];
}

/** On a host port conflict the first pod wins: the scheduler prevents conflicts. */
function hostPorts(family: Family, attachments: HostRulesInput['attachments']): HostPortElements {
  const everywhere = new Map<string, string>();
  const atAddress = new Map<string, string>();
  const hairpin: string[] = [];
  for (const { addresses, portMappings } of attachments) {
    const address = addresses.find((candidate) => isOf(family, candidate));
    if (address === undefined || portMappings.length === 0) continue;
    hairpin.push(`${address} . ${address}`);
    for (const { hostIp, hostPort, containerPort, protocol } of portMappings) {
      if (hostIp !== undefined && !isOf(family, hostIp)) continue;
      const map = hostIp === undefined ? everywhere : atAddress;
      const key = `${hostIp === undefined ? '' : `${hostIp} . `}${protocol} . ${hostPort}`;
      if (!map.has(key)) map.set(key, `${address} . ${containerPort}`);
    }
  }
  const render = (map: Map<string, string>) => [...map].map(([key, value]) => `${key} : ${value}`);
  return { everywhere: render(everywhere), atAddress: render(atAddress), hairpin };
}

/** Whether a text is safe in a rule: addresses and ranges come from API objects. */
export function isAddressOrCidr(text: string): boolean {
  return parseIp(text) !== undefined || parseCidr(text) !== undefined;
}
