import type { networking } from '#api';
import { type NftContent, type NftElement, type NftObject, NftTransactions } from '#base';
import type { Labels } from '#machinery';
import { type CompiledPolicy, compilePolicy, hash, type NamedPort, type PeerSelector } from './compile-policy.ts';

export const POLICY_TABLE = 'sampan-policy';

/** The properties of a pod that policies depend on. */
export interface PolicyPod {
  readonly namespace: string;
  readonly labels: Labels;
  readonly addresses: readonly string[];
  readonly ports: readonly (NamedPort & { readonly port: number })[];
  /** On this node: policies are enforced for local pods only. */
  readonly isLocal: boolean;
}

interface Contribution {
  readonly pod: PolicyPod | undefined;
  readonly content: NftContent;
}

/** The policy table of one family. A pod's elements depend only on policies, its namespace and itself. */
export class PolicyTable {
  readonly #name: string;
  readonly #transactions: NftTransactions;
  readonly #policies = new Map<string, CompiledPolicy>();
  readonly #policyContent = new Map<string, NftContent>();
  readonly #peers = new Map<string, PeerSelector>();
  readonly #namedPorts = new Map<string, NamedPort>();
  readonly #namespaces = new Map<string, Labels>();
  readonly #pods = new Map<string, Contribution>();

  constructor(private readonly family: 4 | 6) {
    this.#name = `${family === 4 ? 'ip' : 'ip6'} ${POLICY_TABLE}`;
    this.#transactions = new NftTransactions(this.#name);
  }

  /** Undefined when it is deleted. All pods must be updated with `refresh`. */
  setPolicy(key: string, policy: networking.NetworkPolicy | undefined): void {
    const compiled = policy && compilePolicy(policy, this.family);
    if (compiled) this.#policies.set(key, compiled);
    else this.#policies.delete(key);
    const content = compiled && { elements: [], objects: this.#setsOf(compiled) };
    this.#transactions.replace(this.#policyContent.get(key), content);
    if (content) this.#policyContent.set(key, content);
    else this.#policyContent.delete(key);
    this.#collectSelectors();
  }

  #setsOf({ peers, namedPorts }: CompiledPolicy): readonly NftObject[] {
    const type = this.family === 4 ? 'ipv4_addr' : 'ipv6_addr';
    return [
      ...[...peers.keys()].map((name) => ({ kind: 'set', name, content: [`type ${type};`] }) as const),
      ...[...namedPorts.keys()].map((name) => ({ kind: 'set', name, content: [`type ${type} . inet_service;`] }) as const),
    ];
  }

  #collectSelectors(): void {
    this.#peers.clear();
    this.#namedPorts.clear();
    for (const { peers, namedPorts } of this.#policies.values()) {
      for (const [name, peer] of peers) this.#peers.set(name, peer);
      for (const [name, port] of namedPorts) this.#namedPorts.set(name, port);
    }
  }

  /** Pods of the namespace must be updated with `refresh`. */
  setNamespace(name: string, labels: Labels | undefined): void {
    if (labels === undefined) this.#namespaces.delete(name);
    else this.#namespaces.set(name, labels);
  }

  /** Undefined when it is deleted. */
  setPod(key: string, pod: PolicyPod | undefined): void {
    const before = this.#pods.get(key);
    const content = pod && this.#contentOf(pod);
    this.#transactions.replace(before?.content, content);
    if (content) this.#pods.set(key, { pod, content });
    else this.#pods.delete(key);
  }

  hasPolicies(namespace: string): boolean {
    for (const policy of this.#policies.values()) if (policy.namespace === namespace) return true;
    return false;
  }

  #contentOf(pod: PolicyPod): NftContent {
    const elements: NftElement[] = [];
    const objects: NftObject[] = [];
    for (const address of pod.addresses.filter((text) => text.includes(':') === (this.family === 6))) {
      for (const [set, peer] of this.#peers) if (this.#isPeer(peer, pod)) elements.push({ set, key: address });
      for (const [set, { name, protocol }] of this.#namedPorts) {
        const ports = pod.ports.filter((port) => port.name === name && port.protocol === protocol);
        for (const { port } of ports) elements.push({ set, key: `${address} . ${port}` });
      }
      if (pod.isLocal) this.#isolate(pod, address, { elements, objects });
    }
    return { elements, objects };
  }

  #isPeer({ namespace, namespaces, pods }: PeerSelector, pod: PolicyPod): boolean {
    const isIn = namespaces ? namespaces.matches(this.#namespaces.get(pod.namespace) ?? {}) : pod.namespace === namespace;
    return isIn && (pods === undefined || pods.matches(pod.labels));
  }

  /** Pods selected by the same policies share a chain. */
  #isolate(pod: PolicyPod, address: string, into: { elements: NftElement[]; objects: NftObject[] }): void {
    const keys = [...this.#policies.keys()].sort();
    const selecting = keys
      .map((key) => this.#policies.get(key)!)
      .filter((p) => p.namespace === pod.namespace && p.pods.matches(pod.labels));
    for (const direction of ['ingress', 'egress'] as const) {
      const about = selecting.filter((policy) => policy[direction] !== undefined);
      if (about.length === 0) continue;
      const content = [...about.flatMap((policy) => policy[direction]!), 'drop'];
      const name = `${direction}-${hash(content)}`;
      into.objects.push({ kind: 'chain', name, content });
      into.elements.push({ set: direction, key: address, value: `jump ${name}` }, { set: 'self', key: `${address} . ${address}` });
    }
  }

  /** Updates the pods of one namespace or all. Yields between them, so that a large cluster does not block the event loop. */
  *refresh(namespace?: string): Generator<void> {
    for (const [key, { pod }] of [...this.#pods]) {
      if (namespace !== undefined && pod?.namespace !== namespace) continue;
      if (this.#pods.get(key)?.pod === pod) this.setPod(key, pod);
      yield;
    }
  }

  takeScript(): string {
    return this.#transactions.takeScript();
  }

  /** Replaces the existing table. */
  fullScript(): string {
    this.#transactions.takeScript();
    return `${this.removal()}${this.#baseText()}${this.#transactions.fullScript()}`;
  }

  removal(): string {
    return `table ${this.#name} {}\ndelete table ${this.#name}\n`;
  }

  /** Traffic of the node itself bypasses the forward hook: it is always allowed, as the API specifies. */
  #baseText(): string {
    const ip = this.family === 4 ? 'ip' : 'ip6';
    const type = this.family === 4 ? 'ipv4_addr' : 'ipv6_addr';
    return `table ${this.#name} {
  map ingress { type ${type} : verdict; }
  map egress { type ${type} : verdict; }
  set self { type ${type} . ${type}; }
  chain forward {
    type filter hook forward priority 0; policy accept;
    ct state established,related accept
    ${ip} saddr . ${ip} daddr @self accept
    ${ip} saddr vmap @egress
    ${ip} daddr vmap @ingress
  }
}
`;
  }

  describe(): readonly string[] {
    return this.#transactions.describe();
  }
}
