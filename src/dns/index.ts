export { isNameServer } from './config/dns-config-map.ts';
export { nameServersOf } from './config/resolv-conf.ts';
export { type DnsServer, type DnsServerConfig, type DnsServerDeps, startDns } from './start-dns.ts';
