import type { core } from '#api';

export interface HostsFileFacts {
  /** The node's own file, for pods with hostNetwork. */
  readonly base: string | undefined;
  readonly podIps: readonly string[];
  readonly hostname: string;
  readonly domainName: string;
  readonly aliases: readonly core.HostAlias[];
}

const HEADER = '# Kubernetes-managed hosts file.\n';
const HOST_NETWORK_HEADER = '# Kubernetes-managed hosts file (host network).\n';
const LOOPBACK = [
  '127.0.0.1\tlocalhost',
  '::1\tlocalhost ip6-localhost ip6-loopback',
  'fe00::0\tip6-localnet',
  'fe00::0\tip6-mcastprefix',
  'fe00::1\tip6-allnodes',
  'fe00::2\tip6-allrouters',
  '',
].join('\n');

/** A pod's /etc/hosts, byte for byte as upstream. */
export function hostsFile(facts: HostsFileFacts): string {
  const { base, podIps, hostname, domainName, aliases } = facts;
  if (base !== undefined) return HOST_NETWORK_HEADER + base + aliasLines(aliases);
  const names = domainName === '' ? hostname : `${hostname}.${domainName}\t${hostname}`;
  return HEADER + LOOPBACK + podIps.map((ip) => `${ip}\t${names}\n`).join('') + aliasLines(aliases);
}

function aliasLines(aliases: readonly core.HostAlias[]): string {
  if (aliases.length === 0) return '';
  const lines = aliases.map(({ ip, hostnames = [] }) => `${ip}\t${hostnames.join('\t')}\n`);
  return `\n# Entries added by HostAliases.\n${lines.join('')}`;
}
