import type { Answer } from 'dns-packet';
import { parseIp } from '#base';
import { type DnsAnswer, type DnsQuestion, RCODE, type Rcode } from './dns-answer.ts';
import { addressFromReverseName, isReverseName } from './reverse-name.ts';
import type { IndexedEndpoint, IndexedPort, IndexedService, ServiceIndex } from './service-index.ts';

export interface ClusterZoneOptions {
  /** `cluster.local` */
  readonly domain: string;
  readonly ttlSeconds: number;
  /** The addresses of this server: the records of `ns.dns`. */
  readonly serverIps: readonly string[];
}

const SPEC_VERSION = '1.1.0';
const MAX_ALIASES = 8;

/** Implements the Kubernetes DNS specification 1.1. Undefined for names outside of the cluster. */
export class ClusterZone {
  constructor(
    private readonly options: ClusterZoneOptions,
    private readonly index: ServiceIndex,
  ) {}

  answer({ name, type }: DnsQuestion, depth = 0): DnsAnswer | undefined {
    if (isReverseName(name)) return this.#pointer(name, type);
    const { domain } = this.options;
    if (name === domain) return this.#apex(type);
    if (!name.endsWith(`.${domain}`)) return undefined;
    const labels = name.slice(0, -domain.length - 1).split('.');
    return this.#below(labels.reverse(), { name, type }, depth);
  }

  #below(labels: readonly string[], question: DnsQuestion, depth: number): DnsAnswer {
    const [first, second] = labels;
    if (first === 'svc') return this.#services(labels.slice(1), question, depth);
    if (first === 'pod') return this.#pods(labels.slice(1), question);
    if (first === 'dns-version' && labels.length === 1) return this.#text(question);
    if (first === 'dns' && labels.length === 1) return this.#empty(RCODE.noError);
    if (first === 'dns' && second === 'ns' && labels.length === 2) return this.#addresses(question, this.options.serverIps);
    return this.#empty(RCODE.nxDomain);
  }

  /** Labels from the right: namespace, service, then endpoint, or protocol and port. */
  #services([namespace, name, third, fourth, ...rest]: readonly string[], question: DnsQuestion, depth: number): DnsAnswer {
    if (namespace === undefined) return this.#empty(RCODE.noError);
    if (!this.index.hasNamespace(namespace)) return this.#empty(RCODE.nxDomain);
    if (name === undefined) return this.#empty(RCODE.noError);
    const service = this.index.service(namespace, name);
    if (service === undefined || rest.length > 0) return this.#empty(RCODE.nxDomain);
    if (third === undefined) return this.#service(service, question, depth);
    if (third.startsWith('_')) return this.#port(service, { protocol: third.slice(1), port: fourth?.slice(1) }, question);
    if (fourth !== undefined) return this.#empty(RCODE.nxDomain);
    const endpoints = service.endpoints.filter(({ label }) => label === third);
    if (endpoints.length === 0) return this.#empty(RCODE.nxDomain);
    return this.#addresses(question, endpointAddresses(endpoints));
  }

  #service(service: IndexedService, question: DnsQuestion, depth: number): DnsAnswer {
    if (service.externalName !== undefined) return this.#alias(service.externalName, question, depth);
    if (question.type === 'SRV') return this.#targets(service, () => true, question);
    const isHeadless = service.clusterIps.length === 0;
    // As CoreDNS: a headless service without ready endpoints does not resolve.
    if (isHeadless && service.endpoints.length === 0) return this.#empty(RCODE.nxDomain);
    return this.#addresses(question, isHeadless ? endpointAddresses(service.endpoints) : service.clusterIps);
  }

  #alias(target: string, { name, type }: DnsQuestion, depth: number): DnsAnswer {
    const alias = this.#record(name, 'CNAME', target.toLowerCase());
    if (type === 'CNAME' || depth >= MAX_ALIASES) return this.#answer([alias]);
    const rest = this.answer({ name: target.toLowerCase(), type }, depth + 1);
    if (rest === undefined) return { ...this.#answer([alias]), follow: target.toLowerCase() };
    return { ...rest, answers: [alias, ...rest.answers] };
  }

  #port(service: IndexedService, named: { protocol: string; port: string | undefined }, question: DnsQuestion): DnsAnswer {
    const matches = ({ name, protocol }: IndexedPort) => protocol === named.protocol && (named.port === undefined || name === named.port);
    const ports = service.clusterIps.length > 0 ? service.ports : service.endpoints.flatMap((endpoint) => endpoint.ports);
    if (!ports.some(matches)) return this.#empty(RCODE.nxDomain);
    return question.type === 'SRV' && named.port !== undefined ? this.#targets(service, matches, question) : this.#empty(RCODE.noError);
  }

  #targets(service: IndexedService, matches: (port: IndexedPort) => boolean, { name }: DnsQuestion): DnsAnswer {
    const base = `${service.name}.${service.namespace}.svc.${this.options.domain}`;
    const answers: Answer[] = [];
    const additionals: Answer[] = [];
    const add = (ports: readonly IndexedPort[], target: string, addresses: readonly string[]) => {
      const chosen = ports.filter(matches);
      for (const { port } of chosen) answers.push(this.#target(name, port, target));
      if (chosen.length > 0) for (const address of addresses) additionals.push(this.#address(target, address));
    };
    if (service.clusterIps.length > 0) add(service.ports, base, service.clusterIps);
    for (const { label, address, ports } of service.endpoints) add(ports, `${label}.${base}`, [address]);
    if (answers.length === 0) return this.#empty(RCODE.noError);
    const weight = Math.max(1, Math.floor(100 / answers.length));
    for (const answer of answers) (answer as { data: { weight: number } }).data.weight = weight;
    return { ...this.#answer(answers), additionals };
  }

  /** Pod records: any address in an existing namespace, as CoreDNS' `pods insecure`. */
  #pods([namespace, label, ...rest]: readonly string[], question: DnsQuestion): DnsAnswer {
    if (namespace === undefined) return this.#empty(RCODE.noError);
    if (!this.index.hasNamespace(namespace)) return this.#empty(RCODE.nxDomain);
    if (label === undefined) return this.#empty(RCODE.noError);
    const address = rest.length > 0 ? undefined : podAddress(label);
    return address === undefined ? this.#empty(RCODE.nxDomain) : this.#addresses(question, [address]);
  }

  #apex(type: string): DnsAnswer {
    const { domain } = this.options;
    if (type === 'SOA') return this.#answer([this.#soa()]);
    if (type !== 'NS') return this.#empty(RCODE.noError);
    const server = `ns.dns.${domain}`;
    return {
      ...this.#answer([this.#record(domain, 'NS', server)]),
      additionals: this.options.serverIps.map((ip) => this.#address(server, ip)),
    };
  }

  /** PTR queries for other addresses are forwarded. */
  #pointer(name: string, type: string): DnsAnswer | undefined {
    const address = addressFromReverseName(name);
    const owners = address === undefined ? [] : [...this.index.owners(address)];
    if (owners.length === 0) return undefined;
    if (type !== 'PTR') return this.#empty(RCODE.noError);
    const { domain } = this.options;
    return this.#answer(
      owners.map(({ endpoint, service, namespace }) =>
        this.#record(name, 'PTR', `${endpoint === undefined ? '' : `${endpoint}.`}${service}.${namespace}.svc.${domain}`),
      ),
    );
  }

  #text({ name, type }: DnsQuestion): DnsAnswer {
    return type === 'TXT' ? this.#answer([this.#record(name, 'TXT', SPEC_VERSION)]) : this.#empty(RCODE.noError);
  }

  #addresses({ name, type }: DnsQuestion, addresses: readonly string[]): DnsAnswer {
    const answers = addresses.map((address) => this.#address(name, address)).filter((answer) => answer.type === type);
    return answers.length === 0 ? this.#empty(RCODE.noError) : { ...this.#answer(answers), isBalanced: answers.length > 1 };
  }

  #address(name: string, address: string): Answer {
    return this.#record(name, address.includes(':') ? 'AAAA' : 'A', address);
  }

  #target(name: string, port: number, target: string): Answer {
    return { type: 'SRV', name, ttl: this.options.ttlSeconds, data: { priority: 0, weight: 100, port, target } };
  }

  #record(name: string, type: 'A' | 'AAAA' | 'CNAME' | 'NS' | 'PTR' | 'TXT', data: string): Answer {
    return { type, name, ttl: this.options.ttlSeconds, data } as Answer;
  }

  #answer(answers: readonly Answer[]): DnsAnswer {
    return { rcode: RCODE.noError, answers, authorities: [], additionals: [] };
  }

  #empty(rcode: Rcode): DnsAnswer {
    return { rcode, answers: [], authorities: [this.#soa()], additionals: [] };
  }

  #soa(): Answer {
    const { domain, ttlSeconds } = this.options;
    return {
      type: 'SOA',
      name: domain,
      ttl: ttlSeconds,
      data: {
        ...{ mname: `ns.dns.${domain}`, rname: `hostmaster.${domain}`, serial: this.index.generation % 2 ** 32 },
        ...{ refresh: 7200, retry: 1800, expire: 86_400, minimum: ttlSeconds },
      },
    };
  }
}

function endpointAddresses(endpoints: readonly IndexedEndpoint[]): readonly string[] {
  return [...new Set(endpoints.map(({ address }) => address))];
}

function podAddress(label: string): string | undefined {
  const ipv4 = label.replaceAll('-', '.');
  if (parseIp(ipv4)?.family === 4) return ipv4;
  const ipv6 = label.replaceAll('-', ':');
  return parseIp(ipv6)?.family === 6 ? ipv6 : undefined;
}
