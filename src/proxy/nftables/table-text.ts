/** The parts of the table that do not depend on services. */
export interface TableSettings {
  readonly family: 4 | 6;
  /** Pod CIDRs that are not masqueraded; without any, only `masqueradeAll` masquerades traffic to cluster IPs. */
  readonly podCidrs: readonly string[];
  /** Instead of CIDRs: the interfaces of pods, such as `cni0` or `cali*`. */
  readonly podInterface?: string;
  /** The node addresses and ranges that serve node ports. */
  readonly nodePortAddresses: readonly string[];
  /** Mode iptables: also at 127.0.0.1, if the ranges include it. */
  readonly localhostNodePorts?: boolean;
  readonly masqueradeAll: boolean;
  /** The packet mark bit for masquerading. */
  readonly masqueradeBit: number;
}

export const PROXY_TABLE = 'sampan-proxy';

export function ipOf(family: 4 | 6): 'ip' | 'ip6' {
  return family === 4 ? 'ip' : 'ip6';
}

export function tableName(family: 4 | 6): string {
  return `${ipOf(family)} ${PROXY_TABLE}`;
}

export function masqueradeMark({ masqueradeBit }: Pick<TableSettings, 'masqueradeBit'>): string {
  return `0x${(2 ** masqueradeBit).toString(16)}`;
}

/** Matches traffic from pods, or from others; undefined when they cannot be distinguished. */
export function podMatch({ family, podCidrs, podInterface }: TableSettings, operator: '' | '!= ' = ''): string | undefined {
  if (podInterface !== undefined) return `iifname ${operator}"${podInterface}"`;
  return podCidrs.length === 0 ? undefined : `${ipOf(family)} saddr ${operator}@pods`;
}

/** Maps and sets with elements from services, with their types. */
export const SERVICE_SETS = (family: 4 | 6): Readonly<Record<string, string>> => {
  const ip = ipOf(family);
  const address = `${family === 4 ? 'ipv4' : 'ipv6'}_addr`;
  const target = `${address} . inet_proto . inet_service`;
  const index = 'numgen random mod 65536';
  const byIndex: Record<string, string> = {};
  for (const protocol of ['tcp', 'udp', 'sctp']) {
    // One map per protocol: nft 1.0 cannot reuse a map whose data are declared as `th dport`.
    const endpoint = `${ip} daddr . ${protocol} dport`;
    for (const mapName of ['endpoints', 'local-endpoints']) {
      byIndex[`${mapName}-${protocol}`] = `typeof ${ip} daddr . meta l4proto . th dport . ${index} : ${endpoint};`;
      byIndex[`node-${mapName}-${protocol}`] = `typeof meta l4proto . th dport . ${index} : ${endpoint};`;
    }
  }
  const maps = Object.entries(byIndex).map(([name, type]) => [name, `map ${name} { ${type} }`]);
  return {
    ...Object.fromEntries(maps),
    services: `map services { type ${target} : verdict; }`,
    'node-ports': 'map node-ports { type inet_proto . inet_service : verdict; }',
    'no-endpoints': `map no-endpoints { type ${target} : verdict; }`,
    'no-node-endpoints': 'map no-node-endpoints { type inet_proto . inet_service : verdict; }',
    'cluster-ips': `set cluster-ips { type ${address}; }`,
    firewall: `set firewall { type ${target}; }`,
    'firewall-allow': `set firewall-allow { type ${target} . ${address}; flags interval; }`,
    hairpin: `set hairpin { type ${address} . ${address}; }`,
  };
};

/** The table without services. */
export function tableText(settings: TableSettings): string {
  const { family, podCidrs, nodePortAddresses } = settings;
  const ip = ipOf(family);
  const address = `${family === 4 ? 'ipv4' : 'ipv6'}_addr`;
  const mark = masqueradeMark(settings);
  const pods = podMatch(settings);
  const target = `${ip} daddr . meta l4proto . th dport`;
  const local = `fib daddr type local ${ip} daddr @node-port-addresses meta l4proto . th dport`;
  const elements = (items: readonly string[]) => (items.length === 0 ? '' : `elements = { ${items.join(', ')} };`);
  return `table ${tableName(family)} {
  set pods { type ${address}; flags interval; auto-merge; ${elements(podCidrs)} }
  set node-port-addresses { type ${address}; flags interval; auto-merge; ${elements(nodePortAddresses)} }
${Object.values(SERVICE_SETS(family))
  .map((text) => `  ${text}\n`)
  .join('')}  chain service-dispatch {
    ${target} vmap @services
    ${local} vmap @node-ports
  }
  chain endpoints-check {
    ${target} vmap @no-endpoints
    ${local} vmap @no-node-endpoints
  }
  chain firewall-check {
    ${target} @firewall ${target} . ${ip} saddr != @firewall-allow drop
  }
  chain reject-connection { reject; }
  chain drop-from-outside {
    ${pods === undefined ? '' : `${pods} return`}
    fib saddr type local return
    drop
  }
  chain nat-prerouting { type nat hook prerouting priority -100; policy accept; jump service-dispatch; }
  chain nat-output { type nat hook output priority -100; policy accept; jump service-dispatch; }
  chain nat-postrouting {
    type nat hook postrouting priority 100; policy accept;
    meta mark & ${mark} != 0 meta mark set meta mark ^ ${mark} masquerade fully-random
    ct status dnat ${ip} saddr . ${ip} daddr @hairpin masquerade fully-random
  }
  chain filter-prerouting { type filter hook prerouting priority -110; policy accept; ct state new jump firewall-check; }
  chain filter-input { type filter hook input priority -110; policy accept; ct state new jump endpoints-check; }
  chain filter-forward {
    type filter hook forward priority -110; policy accept;
    ct state new jump endpoints-check
    ct state new ${ip} daddr @cluster-ips reject
  }
  chain filter-output {
    type filter hook output priority -110; policy accept;
    ct state new jump endpoints-check
    ct state new jump firewall-check
  }
  chain filter-output-after-dnat { type filter hook output priority -90; policy accept; ct state new ${ip} daddr @cluster-ips reject; }
}
`;
}

/** Deleting a missing table fails; adding an existing one does not. */
export function removeTable(family: 4 | 6): string {
  return `table ${tableName(family)} {}\ndelete table ${tableName(family)}\n`;
}
