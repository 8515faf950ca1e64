import { createHash } from 'node:crypto';
import type { networking } from '#api';
import { formatCidr, parseCidr } from '#base';
import { lenientSelector, type Selector } from '#machinery';

/** Pods selected by labels. */
export interface PeerSelector {
  /** Restricts to one namespace, without a namespaceSelector. */
  readonly namespace?: string;
  readonly namespaces?: Selector;
  readonly pods?: Selector;
}

export interface NamedPort {
  readonly name: string;
  readonly protocol: string;
}

/** A policy as rules of one family. Rules refer to sets by name; members are computed per pod. */
export interface CompiledPolicy {
  readonly namespace: string;
  readonly pods: Selector;
  /** Allow rules; undefined when the policy does not cover ingress. */
  readonly ingress: readonly string[] | undefined;
  readonly egress: readonly string[] | undefined;
  /** Sets of pod addresses. */
  readonly peers: ReadonlyMap<string, PeerSelector>;
  /** Sets of pod addresses and ports. */
  readonly namedPorts: ReadonlyMap<string, NamedPort>;
}

type Peer = networking.NetworkPolicyPeer;
type Port = networking.NetworkPolicyPort;

export function compilePolicy(policy: networking.NetworkPolicy, family: 4 | 6): CompiledPolicy {
  const { metadata, spec = {} } = policy;
  const compiler = new Compiler(metadata?.namespace ?? '', family);
  const types = spec.policyTypes ?? (spec.egress?.length ? ['Ingress', 'Egress'] : ['Ingress']);
  const ingress = (spec.ingress ?? []).flatMap(({ from, ports }) => compiler.rules('saddr', from, ports));
  const egress = (spec.egress ?? []).flatMap(({ to, ports }) => compiler.rules('daddr', to, ports));
  return {
    namespace: compiler.namespace,
    pods: lenientSelector(spec.podSelector ?? {}),
    ingress: types.includes('Ingress') ? ingress : undefined,
    egress: types.includes('Egress') ? egress : undefined,
    peers: compiler.peers,
    namedPorts: compiler.namedPorts,
  };
}

class Compiler {
  readonly peers = new Map<string, PeerSelector>();
  readonly namedPorts = new Map<string, NamedPort>();
  readonly #ip: 'ip' | 'ip6';

  constructor(
    readonly namespace: string,
    private readonly family: 4 | 6,
  ) {
    this.#ip = family === 4 ? 'ip' : 'ip6';
  }

  /** Allows traffic with any of the peers on any of the ports. Empty: any. */
  rules(side: 'saddr' | 'daddr', peers: readonly Peer[] = [], ports: readonly Port[] = []): readonly string[] {
    const peerMatches = peers.length === 0 ? [''] : peers.flatMap((peer) => this.#peer(side, peer));
    const where = ports.length === 0 ? [''] : ports.flatMap((port) => this.#port(port));
    return peerMatches.flatMap((peer) => where.map((port) => [peer, port, 'return'].filter((part) => part !== '').join(' ')));
  }

  /** Empty for a range of the other family. */
  #peer(side: 'saddr' | 'daddr', { ipBlock, podSelector, namespaceSelector }: Peer): readonly string[] {
    const match = `${this.#ip} ${side}`;
    if (ipBlock) {
      const cidr = this.#cidr(ipBlock.cidr);
      if (cidr === undefined) return [];
      const left = (ipBlock.except ?? []).map((except) => this.#cidr(except)).filter((except) => except !== undefined);
      return [[`${match} ${cidr}`, ...left.map((except) => `${match} != ${except}`)].join(' ')];
    }
    const name = `peers-${hash([namespaceSelector ? '' : this.namespace, namespaceSelector ?? null, podSelector ?? null])}`;
    this.peers.set(name, {
      ...(namespaceSelector ? { namespaces: lenientSelector(namespaceSelector) } : { namespace: this.namespace }),
      ...(podSelector && { pods: lenientSelector(podSelector) }),
    });
    return [`${match} @${name}`];
  }

  #cidr(text: string): string | undefined {
    const network = parseCidr(text);
    return network?.family === this.family ? formatCidr(network) : undefined;
  }

  #port({ protocol = 'TCP', port, endPort }: Port): readonly string[] {
    const transport = (protocol ?? 'TCP').toLowerCase();
    if (port === undefined || port === null) return [`meta l4proto ${transport}`];
    if (typeof port === 'number') return [`${transport} dport ${port}${endPort ? `-${endPort}` : ''}`];
    const name = `port-${hash([transport, port])}`;
    this.namedPorts.set(name, { name: port, protocol: transport });
    return [`meta l4proto ${transport} ${this.#ip} daddr . th dport @${name}`];
  }
}

export function hash(parts: unknown): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
}
