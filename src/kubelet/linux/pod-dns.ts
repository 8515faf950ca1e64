import { readFile } from 'node:fs/promises';
import type { core } from '#api';
import type { DnsConfig } from '../cri/runtime.ts';
import type { PodEvents } from '../pods/pod-events.ts';
import { podText } from '../pods/pod-state.ts';

export interface PodDnsOptions {
  readonly clusterDns: readonly string[];
  readonly clusterDomain: string;
  /** As `--resolv-conf`: the node's file that pods inherit; empty: none. */
  readonly resolvConf: string;
}

const MAX_SERVERS = 3;
const MAX_SEARCHES = 32;
const MAX_SEARCH_LENGTH = 253;
const MAX_SEARCH_LINE = 2048;
const MAX_FILE_BYTES = 10 * 1024 * 1024;
const CLUSTER_OPTIONS: readonly string[] = ['ndots:5'];

/** A pod's resolv.conf, by upstream's rules. Exceeded limits are reported by events. */
export async function podDns(pod: core.Pod, options: PodDnsOptions, events: Pick<PodEvents, 'warning'>): Promise<DnsConfig> {
  const base = await baseConfig(pod, options, events);
  const { nameservers = [], searches = [], options: own = [] } = pod.spec?.dnsConfig ?? {};
  const merged = {
    servers: [...new Set([...base.servers, ...nameservers])],
    searches: [...new Set([...base.searches, ...searches])],
    options: mergedOptions(base.options, own),
  };
  return { ...merged, servers: fittingServers(merged.servers, events), searches: fittingSearches(merged.searches, events) };
}

async function baseConfig(pod: core.Pod, options: PodDnsOptions, events: Pick<PodEvents, 'warning'>): Promise<DnsConfig> {
  const { dnsPolicy = 'ClusterFirst', hostNetwork } = pod.spec ?? {};
  if (dnsPolicy === 'None') return { servers: [], searches: [], options: [] };
  const host = await hostConfig(options.resolvConf);
  const asksCluster = dnsPolicy === 'ClusterFirstWithHostNet' || (dnsPolicy === 'ClusterFirst' && hostNetwork !== true);
  if (!asksCluster) return host;
  const { clusterDns, clusterDomain } = options;
  if (clusterDns.length > 0) return { servers: clusterDns, searches: clusterSearches(pod, clusterDomain, host), options: CLUSTER_OPTIONS };
  const problem = 'kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy.';
  events.warning(undefined, 'MissingClusterDNS', `pod: "${podText(pod)}". ${problem} Falling back to "Default" policy.`);
  return host;
}

function clusterSearches({ metadata }: core.Pod, domain: string, host: DnsConfig): readonly string[] {
  if (domain === '') return host.searches;
  return [...new Set([`${metadata.namespace}.svc.${domain}`, `svc.${domain}`, domain, ...host.searches])];
}

async function hostConfig(path: string): Promise<DnsConfig> {
  if (path === '') return { servers: ['127.0.0.1'], searches: ['.'], options: [] };
  const text = await readFile(path, 'utf8');
  if (text.length > MAX_FILE_BYTES) throw new Error(`${path} is larger than ${MAX_FILE_BYTES} bytes`);
  return parseResolvConf(text);
}

export function parseResolvConf(text: string): DnsConfig {
  const servers: string[] = [];
  let searches: readonly string[] = [];
  const options = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [keyword, ...words] = line.split(/[ \t\r]/).filter((word) => word !== '');
    if (keyword === 'nameserver' && words[0] !== undefined) servers.push(words[0]);
    if (keyword === 'search')
      searches = words.filter((word) => word !== '.').map((word) => (word.endsWith('.') ? word.slice(0, -1) : word));
    if (keyword === 'options') for (const option of words) options.set(option.split(':')[0] as string, option);
  }
  return { servers, searches, options: [...options.values()] };
}

function mergedOptions(base: readonly string[], own: readonly core.PodDNSConfigOption[]): readonly string[] {
  const options = new Map(base.map((option) => [option.split(':')[0] as string, option]));
  for (const { name = '', value } of own) options.set(name, value === undefined || value === '' ? name : `${name}:${value}`);
  return [...options.values()];
}

function fittingServers(servers: readonly string[], events: Pick<PodEvents, 'warning'>): readonly string[] {
  if (servers.length <= MAX_SERVERS) return servers;
  const first = servers.slice(0, MAX_SERVERS);
  const message = 'Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is:';
  events.warning(undefined, 'DNSConfigForming', `${message} ${first.join(' ')}`);
  return first;
}

function fittingSearches(searches: readonly string[], events: Pick<PodEvents, 'warning'>): readonly string[] {
  const first = searches.slice(0, MAX_SEARCHES).filter((search) => search.length <= MAX_SEARCH_LENGTH);
  while (first.join(' ').length > MAX_SEARCH_LINE) first.pop();
  if (first.length === searches.length) return searches;
  const message = 'Search Line limits were exceeded, some search paths have been omitted, the applied search line is:';
  events.warning(undefined, 'DNSConfigForming', `${message} ${first.join(' ')}`);
  return first;
}
