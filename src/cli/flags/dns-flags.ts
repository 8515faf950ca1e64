import { parseIp } from '#base';
import { type DnsServerConfig, isNameServer, nameServersOf } from '#dns';
import { durationValue, type FlagTable, fileText, listValue, wholeNumberValue } from './flag-table.ts';

/** CoreDNS has no such flags; the names are those of kube-dns, the kubelet and other components. */
export const DNS_FLAGS: FlagTable<DnsServerConfig> = {
  'dns-bind-address': {
    value: 'addresses',
    help: 'where names are answered, over UDP and TCP (default: 0.0.0.0)',
    repeatable: true,
    apply: (c, value) => ({ ...c, listen: listValue(value).map(address) }),
  },
  'dns-port': { value: 'port', help: 'the port of both (default: 53)', apply: (c, value) => ({ ...c, port: port(value) }) },
  'cluster-domain': {
    value: 'domain',
    help: 'the domain of the cluster (default: cluster.local)',
    apply: (c, value) => ({ ...c, clusterDomain: domain(value) }),
  },
  'cluster-dns': {
    value: 'addresses',
    help: 'the addresses of the service kube-dns: the records of ns.dns, and never asked as name servers',
    repeatable: true,
    apply: (c, value) => ({ ...c, serviceIps: listValue(value).map(address) }),
  },
  ttl: {
    value: 'duration',
    help: 'how long clients may keep names of the cluster (default: 30s)',
    apply: (c, value) => ({ ...c, ttlSeconds: Math.round(durationValue(value) / 1000) }),
  },
  'resolv-conf': {
    value: 'file',
    help: 'the file whose name servers are asked for all other names (default: /etc/resolv.conf)',
    apply: (c, value, context) => ({ ...c, upstream: nameServersOf(fileText(value, context)) }),
  },
  upstream: {
    value: 'servers',
    help: 'name servers for all other names, as ADDRESS or ADDRESS:PORT, instead of those of a file',
    repeatable: true,
    apply: (c, value) => ({ ...c, upstream: listValue(value).map(nameServer) }),
  },
  'health-bind-address': {
    value: 'address',
    help: 'where /health is served, empty for nowhere (default: 0.0.0.0:8080)',
    apply: (c, value) => ({ ...c, healthBindAddress: value }),
  },
  'ready-bind-address': {
    value: 'address',
    help: 'where /ready is served, empty for nowhere (default: 0.0.0.0:8181)',
    apply: (c, value) => ({ ...c, readyBindAddress: value }),
  },
  'metrics-bind-address': {
    value: 'address',
    help: 'where /metrics is served, empty for nowhere (default: 0.0.0.0:9153)',
    apply: (c, value) => ({ ...c, metricsBindAddress: value }),
  },
};

function address(text: string): string {
  if (parseIp(text) === undefined) throw new Error(`'${text}' is no address`);
  return text;
}

function nameServer(text: string): string {
  if (!isNameServer(text)) throw new Error(`'${text}' is neither ADDRESS nor ADDRESS:PORT`);
  return text;
}

function port(text: string): number {
  const value = wholeNumberValue(text);
  if (value > 65_535) throw new Error(`'${text}' is no port`);
  return value;
}

function domain(text: string): string {
  const name = text.toLowerCase().replace(/\.$/, '');
  if (!/^[a-z0-9-]+(?:\.[a-z0-9-]+)*$/.test(name)) throw new Error(`'${text}' is no domain`);
  return name;
}
