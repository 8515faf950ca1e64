import { createHash } from 'node:crypto';
import { networkContains, parseCidr, parseIp, pushAll } from '#base';
import type { NftablesSettings } from '../nftables/nftables-applier.ts';
import { type Frontend, frontendId, type ProxyEndpoint, type ServicePortRules } from '../rules/service-rules.ts';

/** Our chains of one table, with their rules. */
export type Chains = ReadonlyMap<string, readonly string[]>;

/** The rules of one family. Our chains in the nat table that are not listed are stale. */
export interface IptablesRules {
  readonly nat: Chains;
  readonly filter: Chains;
}

/** The input of iptables-restore for all chains, or for those that differ from the previous input. Empty: nothing changed. */
export function restoreText({ nat, filter }: IptablesRules, written?: IptablesRules): string {
  return tableText('nat', changedChains(nat, written?.nat)) + tableText('filter', changedChains(filter, written?.filter));
}

function changedChains(chains: Chains, written: Chains | undefined): Chains {
  return written === undefined ? chains : new Map([...chains].filter(([name, rules]) => !isSame(rules, written.get(name))));
}

function isSame(rules: readonly string[], others: readonly string[] | undefined): boolean {
  return rules.length === others?.length && rules.every((rule, i) => rule === others[i]);
}

export const BASE_CHAINS = {
  nat: ['SAMPAN-SERVICES', 'SAMPAN-NODEPORTS', 'SAMPAN-MARK', 'SAMPAN-POSTROUTING'],
  filter: ['SAMPAN-NO-ENDPOINTS', 'SAMPAN-FIREWALL'],
} as const;

/** Jumps from the built-in chains to ours. */
export const JUMPS: readonly { readonly table: 'nat' | 'filter'; readonly chain: string; readonly rule: readonly string[] }[] = [
  ...['PREROUTING', 'OUTPUT'].map((chain) => ({ table: 'nat', chain, rule: ['-j', 'SAMPAN-SERVICES'] }) as const),
  { table: 'nat', chain: 'POSTROUTING', rule: ['-j', 'SAMPAN-POSTROUTING'] },
  ...['INPUT', 'FORWARD', 'OUTPUT'].flatMap((chain) =>
    ['SAMPAN-NO-ENDPOINTS', 'SAMPAN-FIREWALL'].map(
      (target) => ({ table: 'filter', chain, rule: ['-m', 'conntrack', '--ctstate', 'NEW', '-j', target] }) as const,
    ),
  ),
];

export interface Claim {
  readonly rules: ServicePortRules;
  readonly frontend: Frontend;
}

/** Frontends in the services chain, each endpoint in its own chain. */
export function iptablesRules(family: 4 | 6, claims: Iterable<Claim>, settings: NftablesSettings): IptablesRules {
  const writer = new Writer(family, settings);
  for (const claim of claims) writer.add(claim);
  return writer.finish();
}

const LOCAL_SOURCE = '-m addrtype --src-type LOCAL';

class Writer {
  readonly #chains = new Map<string, string[]>();
  readonly #services: string[] = [];
  readonly #nodePorts: string[] = [];
  readonly #noEndpoints: string[] = [];
  readonly #firewall: string[] = [];
  readonly #host: number;
  /** Matches packets of pods. */
  readonly #fromPods: readonly string[];

  constructor(
    private readonly family: 4 | 6,
    private readonly settings: NftablesSettings,
  ) {
    this.#host = family === 4 ? 32 : 128;
    const ranges = settings.podCidrs.filter((cidr) => cidr.includes(':') === (family === 6));
    const { podInterface } = settings;
    this.#fromPods = podInterface === undefined ? ranges.map((cidr) => `-s ${cidr}`) : [`-i ${podInterface.replace(/\*$/, '+')}`];
  }

  add({ rules, frontend }: Claim): void {
    const { address, port, endpoints, localEndpoints, sourceRanges, dropsUnserved } = frontend;
    const where = `${address === undefined ? '' : `-d ${address}/${this.#host} `}-p ${rules.protocol} -m ${rules.protocol} --dport ${port}`;
    if (endpoints.length === 0 && !localEndpoints?.length) {
      this.#noEndpoints.push(`${where}${isLocal(address)} -j ${dropsUnserved ? 'DROP' : 'REJECT'}`);
      return;
    }
    if (localEndpoints?.length === 0) this.#noEndpoints.push(`${where}${isLocal(address)} -m addrtype ! --src-type LOCAL -j DROP`);
    const entry = this.#entry(rules, frontend);
    const target = address === undefined ? this.#nodePorts : this.#services;
    for (const source of sourceRanges?.map((range) => ` -s ${range}`) ?? ['']) target.push(`${where}${source} -j ${entry}`);
    if (sourceRanges) this.#firewall.push(`${where} -j DROP`);
  }

  #entry(rules: ServicePortRules, frontend: Frontend): string {
    const { endpoints, localEndpoints, masquerade } = frontend;
    const name = `SAMPAN-FRT-${hash([rules.id, frontendId(frontend, rules)])}`;
    const all = endpoints.length > 0 ? this.#choose(rules, endpoints) : undefined;
    const lines: string[] = [];
    if (localEndpoints !== undefined) {
      if (all)
        pushAll(
          lines,
          this.#fromPods.map((match) => `${match} -j ${all}`),
          [`${LOCAL_SOURCE} -j SAMPAN-MARK`, `${LOCAL_SOURCE} -j ${all}`],
        );
      if (localEndpoints.length > 0) lines.push(`-j ${this.#choose(rules, localEndpoints)}`);
    } else {
      if (masquerade === 'always' || this.settings.masqueradeAll) lines.push('-j SAMPAN-MARK');
      else if (this.#fromPods.length === 1) lines.push(`! ${this.#fromPods[0]} -j SAMPAN-MARK`);
      lines.push(`-j ${all}`);
    }
    this.#chains.set(name, lines);
    return name;
  }

  #choose(rules: ServicePortRules, endpoints: readonly ProxyEndpoint[]): string {
    const chains = endpoints.map((endpoint) => this.#endpoint(rules, endpoint));
    const name = `SAMPAN-SVC-${hash([rules.id, ...chains])}`;
    const recent = (chain: string) => `-m recent --name ${chain} --rcheck --seconds ${rules.affinitySeconds} --reap --rsource -j ${chain}`;
    const sticky = rules.affinitySeconds === undefined ? [] : chains.map(recent);
    const drawn = chains.map((chain, i) => {
      const left = chains.length - i;
      return left === 1 ? `-j ${chain}` : `-m statistic --mode random --probability ${(1 / left).toFixed(11)} -j ${chain}`;
    });
    this.#chains.set(name, [...sticky, ...drawn]);
    return name;
  }

  #endpoint({ id, protocol, affinitySeconds }: ServicePortRules, { address, port }: ProxyEndpoint): string {
    const name = `SAMPAN-SEP-${hash([id, address, String(port)])}`;
    const target = this.family === 4 ? `${address}:${port}` : `[${address}]:${port}`;
    const recent = affinitySeconds === undefined ? '' : ` -m recent --name ${name} --set --rsource`;
    this.#chains.set(name, [
      `-s ${address}/${this.#host} -j SAMPAN-MARK`,
      `-p ${protocol} -m ${protocol}${recent} -j DNAT --to-destination ${target}`,
    ]);
    return name;
  }

  finish(): IptablesRules {
    const mark = `0x${(2 ** this.settings.masqueradeBit).toString(16)}`;
    const nat = new Map<string, readonly string[]>([
      ['SAMPAN-SERVICES', [...this.#services, ...this.#nodePortJumps()]],
      ['SAMPAN-NODEPORTS', [...this.#loopbackExclusion(), ...this.#nodePorts]],
      ['SAMPAN-MARK', [`-j MARK --or-mark ${mark}`]],
      ['SAMPAN-POSTROUTING', [`-m mark ! --mark ${mark}/${mark} -j RETURN`, `-j MARK --xor-mark ${mark}`, '-j MASQUERADE --random-fully']],
      ...this.#chains,
    ]);
    const filter = new Map([
      ['SAMPAN-NO-ENDPOINTS', this.#noEndpoints],
      ['SAMPAN-FIREWALL', [...(routesLoopback(this.family, this.settings) ? [NO_FOREIGN_LOOPBACK] : []), ...this.#firewall]],
    ]);
    return { nat, filter };
  }

  #loopbackExclusion(): readonly string[] {
    if (this.family === 6) return ['-d ::1/128 -j RETURN'];
    return routesLoopback(this.family, this.settings) ? [] : ['-d 127.0.0.0/8 -j RETURN'];
  }

  #nodePortJumps(): readonly string[] {
    const own = this.settings.nodePortAddresses.filter((address) => address.includes(':') === (this.family === 6));
    return own.map((address) => `-d ${address} -m addrtype --dst-type LOCAL -j SAMPAN-NODEPORTS`);
  }
}

/** Whether the kernel must route packets with loopback addresses: only IPv4 can. */
export function routesLoopback(family: 4 | 6, { localhostNodePorts = false, nodePortAddresses }: NftablesSettings): boolean {
  if (family === 6 || !localhostNodePorts) return false;
  return nodePortAddresses.map(parseCidr).some((range) => range !== undefined && networkContains(range, LOCALHOST));
}

const LOCALHOST = parseIp('127.0.0.1')!;
/** After routing, neighbours could otherwise reach services that listen on loopback only. */
const NO_FOREIGN_LOOPBACK = '! -s 127.0.0.0/8 -d 127.0.0.0/8 -m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP';

function isLocal(address: string | undefined): string {
  return address === undefined ? ' -m addrtype --dst-type LOCAL' : '';
}

function hash(parts: readonly string[]): string {
  return createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 16).toUpperCase();
}

function tableText(table: string, chains: Chains): string {
  if (chains.size === 0) return '';
  const lines = [`*${table}`, ...[...chains.keys()].map((name) => `:${name} - [0:0]`)];
  for (const [name, rules] of chains) for (const rule of rules) lines.push(`-A ${name} ${rule}`);
  return `${lines.join('\n')}\nCOMMIT\n`;
}
