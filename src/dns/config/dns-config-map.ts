import type { core } from '#api';
import { parseIp } from '#base';

/** The settings in the ConfigMap `kube-system/kube-dns`. */
export interface DnsConfig {
  /** Name servers by domain. */
  readonly stubDomains: ReadonlyMap<string, readonly string[]>;
  /** Replaces the node's name servers; undefined when not set. */
  readonly upstreamNameservers: readonly string[] | undefined;
  /** Addresses by name, as in /etc/hosts. */
  readonly hosts: ReadonlyMap<string, readonly string[]>;
  /** Parse errors: the rest applies. */
  readonly problems: readonly string[];
}

export const NO_CONFIG: DnsConfig = { stubDomains: new Map(), upstreamNameservers: undefined, hosts: new Map(), problems: [] };

const MAX_HOSTS = 10_000;

export function readDnsConfig(map: core.ConfigMap | undefined): DnsConfig {
  const problems: string[] = [];
  const { stubDomains = '', upstreamNameservers = '', hosts = '' } = map?.data ?? {};
  return {
    stubDomains: readStubDomains(stubDomains, problems),
    upstreamNameservers:
      upstreamNameservers.trim() === '' ? undefined : readServers('upstreamNameservers', json(upstreamNameservers, problems), problems),
    hosts: readHosts(hosts, problems),
    problems,
  };
}

function json(text: string, problems: string[]): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    problems.push((error as Error).message);
    return undefined;
  }
}

function readStubDomains(text: string, problems: string[]): ReadonlyMap<string, readonly string[]> {
  const domains = new Map<string, readonly string[]>();
  const value = text.trim() === '' ? {} : json(text, problems);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return domains;
  for (const [domain, servers] of Object.entries(value)) {
    const usable = readServers(`stubDomains ${domain}`, servers, problems);
    if (usable.length > 0) domains.set(domain.toLowerCase().replace(/\.$/, ''), usable);
  }
  return domains;
}

/** Addresses with an optional port: `10.0.0.1`, `10.0.0.1:5353`, `[fd00::1]:5353`. */
function readServers(key: string, value: unknown, problems: string[]): readonly string[] {
  const servers = Array.isArray(value) ? value : [];
  if (!Array.isArray(value)) problems.push(`${key} must be a list of addresses`);
  return servers.filter((server): server is string => {
    const isUsable = typeof server === 'string' && serverAddress(server) !== undefined;
    if (!isUsable) problems.push(`${key}: ${JSON.stringify(server)} is no address of a name server`);
    return isUsable;
  });
}

export interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

export function isNameServer(text: string): boolean {
  return serverAddress(text) !== undefined;
}

export function serverAddress(text: string): ServerAddress | undefined {
  const bracketed = /^\[([^\]]+)\](?::(\d{1,5}))?$/.exec(text);
  const plain = text.split(':').length === 2 ? text.split(':') : [text];
  const [host = '', port = '53'] = bracketed ? [bracketed[1], bracketed[2]] : plain;
  const number = Number(port);
  if (parseIp(host) === undefined || !Number.isInteger(number) || number < 1 || number > 65_535) return undefined;
  return { host, port: number };
}

function readHosts(text: string, problems: string[]): ReadonlyMap<string, readonly string[]> {
  const hosts = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = (line.split('#', 1)[0] ?? '').trim().split(/[ \t]+/);
    if (address === '') continue;
    if (parseIp(address) === undefined) problems.push(`hosts: ${JSON.stringify(address)} is no address`);
    else for (const name of names) addHost(hosts, name.toLowerCase(), address);
  }
  return hosts;
}

function addHost(hosts: Map<string, string[]>, name: string, address: string): void {
  const addresses = hosts.get(name);
  if (addresses !== undefined) addresses.push(address);
  else if (hosts.size < MAX_HOSTS) hosts.set(name, [address]);
}
