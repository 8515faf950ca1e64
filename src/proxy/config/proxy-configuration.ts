import { parseBindAddress, parseCidr, parseIp } from '#base';
import { ConfigurationReader, type Fields } from '#machinery';
import { type ConntrackSettings, readConntrack, readPeriod } from './conntrack-settings.ts';
import { FIELDS_WITHOUT_EFFECT, readFieldsWithoutEffect } from './fields-without-effect.ts';
import { type ProcessSettings, readProcessSettings } from './process-settings.ts';

export const PROXY_MODES = ['nftables', 'iptables', 'userspace'] as const;
export type ProxyMode = (typeof PROXY_MODES)[number];

export const LOCAL_MODES = ['ClusterCIDR', 'NodeCIDR', 'BridgeInterface', 'InterfaceNamePrefix'] as const;
export type LocalMode = (typeof LOCAL_MODES)[number];

/** A KubeProxyConfiguration with defaults applied. */
export interface ProxyConfiguration extends ProcessSettings {
  /** Absent: nftables if available and permitted, else userspace. */
  readonly mode?: ProxyMode;
  /** Absent: no health server. */
  readonly healthzBindAddress?: string;
  readonly metricsBindAddress?: string;
  readonly hostnameOverride: string;
  /** The pod CIDRs: traffic from outside of them to cluster IPs is masqueraded. */
  readonly clusterCidrs: readonly string[];
  /** How local pods are detected. */
  readonly detectLocalMode: LocalMode;
  /** BridgeInterface and InterfaceNamePrefix: the interfaces of pods, such as `cni0` or `cali*`. */
  readonly podInterface?: string;
  /** Overrides the node's addresses from its status. */
  readonly nodeAddress?: string;
  /** Whether a failed bind is fatal, or only logged and retried. */
  readonly bindAddressHardFail: boolean;
  readonly conntrack?: ConntrackSettings;
  readonly oomScoreAdj: number;
  /** Ranges, or `primary` for the node's own addresses. */
  readonly nodePortAddresses: readonly string[];
  /** Whether mode iptables serves node ports at 127.0.0.1 too. */
  readonly localhostNodePorts: boolean;
  readonly masqueradeAll: boolean;
  readonly masqueradeBit: number;
  readonly syncPeriodMs: number;
  readonly minSyncPeriodMs: number;
}

export class ProxyConfigurationError extends Error {
  override readonly name = 'ProxyConfigurationError';
  constructor(readonly problems: readonly string[]) {
    super(`invalid proxy configuration: ${problems.join('; ')}`);
  }
}

const API_VERSION = 'kubeproxy.config.k8s.io/v1alpha1';
const FIELDS = [
  'apiVersion',
  'kind',
  'mode',
  'healthzBindAddress',
  'metricsBindAddress',
  'hostnameOverride',
  'bindAddress',
  'bindAddressHardFail',
  'clusterCIDR',
  'conntrack',
  'detectLocal',
  'detectLocalMode',
  'nodePortAddresses',
  'nftables',
  'iptables',
  'clientConnection',
  'logging',
  'oomScoreAdj',
];
const RULE_FIELDS = ['masqueradeAll', 'masqueradeBit', 'syncPeriod', 'minSyncPeriod'];
const DEFAULT_HEALTHZ = { host: '0.0.0.0', port: 10_256 };
const DEFAULT_METRICS = { host: '127.0.0.1', port: 10_249 };
/** Interface names have at most 15 characters. */
const INTERFACE_NAME = /^[a-zA-Z0-9_.-]{1,15}$/;

/** Parses a KubeProxyConfiguration; default: empty. Throws a ProxyConfigurationError with all errors. */
export function readProxyConfiguration(document: unknown = {}): ProxyConfiguration {
  const reader = new ConfigurationReader();
  const fields = reader.object(document, 'configuration');
  reader.rejectUnknownFields(fields, [...FIELDS, ...FIELDS_WITHOUT_EFFECT], '');
  reader.oneOf(fields.apiVersion, 'apiVersion', [API_VERSION]);
  reader.oneOf(fields.kind, 'kind', ['KubeProxyConfiguration']);
  const mode = reader.text(fields.mode, 'mode', '');
  if (mode !== '' && !PROXY_MODES.includes(mode as ProxyMode)) reader.fail('mode', `must be ${PROXY_MODES.join(' or ')}`);
  const bindAddress = reader.text(fields.bindAddress, 'bindAddress', '0.0.0.0');
  if (parseIp(bindAddress) === undefined) reader.fail('bindAddress', `"${bindAddress}" is no address`);
  const section = mode === 'iptables' ? 'iptables' : 'nftables';
  // That of the other mode is checked too.
  const rules = { nftables: ruleSettings(reader, fields, 'nftables'), iptables: ruleSettings(reader, fields, 'iptables') };
  const { withoutEffect, ...ofProcess } = readProcessSettings(reader, fields);
  const configuration: ProxyConfiguration = {
    ...(mode !== '' && { mode: mode as ProxyMode }),
    healthzBindAddress: servingAddress(reader, fields, { name: 'healthzBindAddress', fallback: DEFAULT_HEALTHZ }),
    metricsBindAddress: servingAddress(reader, fields, { name: 'metricsBindAddress', fallback: DEFAULT_METRICS }),
    hostnameOverride: reader.text(fields.hostnameOverride, 'hostnameOverride', ''),
    clusterCidrs: cidrs(reader, fields.clusterCIDR, 'clusterCIDR'),
    ...localDetection(reader, fields),
    ...(bindAddress !== '0.0.0.0' && bindAddress !== '::' && { nodeAddress: bindAddress }),
    bindAddressHardFail: reader.boolean(fields.bindAddressHardFail, 'bindAddressHardFail', false),
    conntrack: readConntrack(reader, fields.conntrack),
    oomScoreAdj: reader.number(fields.oomScoreAdj, 'oomScoreAdj', { fallback: -999, min: -1000, max: 1000 }),
    nodePortAddresses: addresses(reader, fields.nodePortAddresses),
    localhostNodePorts: localhostNodePorts(reader, fields),
    ...rules[section],
    ...ofProcess,
    withoutEffect: [...readFieldsWithoutEffect(reader, fields), ...withoutEffect],
  };
  if (reader.problems.length > 0) throw new ProxyConfigurationError(reader.problems);
  return configuration;
}

/** An address may stand without a port. */
function servingAddress(
  reader: ConfigurationReader,
  fields: Fields,
  { name, fallback }: { name: string; fallback: { readonly host: string; readonly port: number } },
): string {
  const text = reader.text(fields[name], name, fallback.host);
  const address = parseIp(text) === undefined ? text : `${text.includes(':') ? `[${text}]` : text}:${fallback.port}`;
  try {
    parseBindAddress(address);
  } catch (error) {
    reader.fail(name, (error as Error).message);
  }
  return address;
}

function localDetection(reader: ConfigurationReader, fields: Fields): Pick<ProxyConfiguration, 'detectLocalMode' | 'podInterface'> {
  const mode = reader.text(fields.detectLocalMode, 'detectLocalMode', 'ClusterCIDR') as LocalMode;
  if (!LOCAL_MODES.includes(mode)) reader.fail('detectLocalMode', `must be ${LOCAL_MODES.join(' or ')}`);
  const detectLocal = reader.object(fields.detectLocal, 'detectLocal');
  reader.rejectUnknownFields(detectLocal, ['bridgeInterface', 'interfaceNamePrefix'], 'detectLocal');
  const field = mode === 'BridgeInterface' ? 'bridgeInterface' : mode === 'InterfaceNamePrefix' ? 'interfaceNamePrefix' : undefined;
  if (field === undefined) return { detectLocalMode: mode };
  const name = reader.text(detectLocal[field], `detectLocal.${field}`, '');
  if (!INTERFACE_NAME.test(name)) reader.fail(`detectLocal.${field}`, `must name an interface with detectLocalMode ${mode}`);
  return { detectLocalMode: mode, podInterface: mode === 'BridgeInterface' ? name : `${name}*` };
}

function cidrs(reader: ConfigurationReader, value: unknown, path: string): readonly string[] {
  const list = reader
    .text(value, path, '')
    .split(',')
    .filter((item) => item !== '');
  for (const cidr of list) if (parseCidr(cidr) === undefined) reader.fail(path, `"${cidr}" is not a range of addresses`);
  return list;
}

function addresses(reader: ConfigurationReader, value: unknown): readonly string[] {
  const list = reader.list(value, 'nodePortAddresses').map(String);
  for (const item of list)
    if (item !== 'primary' && parseCidr(item) === undefined)
      reader.fail('nodePortAddresses', `"${item}" is neither a range of addresses nor primary`);
  return list;
}

type RuleSettings = Pick<ProxyConfiguration, 'masqueradeAll' | 'masqueradeBit' | 'syncPeriodMs' | 'minSyncPeriodMs'>;

function ruleSettings(reader: ConfigurationReader, fields: Fields, section: 'iptables' | 'nftables'): RuleSettings {
  const entries = reader.object(fields[section], section);
  reader.rejectUnknownFields(entries, [...RULE_FIELDS, ...(section === 'iptables' ? ['localhostNodePorts'] : [])], section);
  return {
    masqueradeAll: reader.boolean(entries.masqueradeAll, `${section}.masqueradeAll`, false),
    masqueradeBit: reader.number(entries.masqueradeBit, `${section}.masqueradeBit`, { fallback: 14, min: 0, max: 31 }),
    syncPeriodMs: readPeriod(reader, entries.syncPeriod, `${section}.syncPeriod`) || 30_000,
    minSyncPeriodMs: readPeriod(reader, entries.minSyncPeriod, `${section}.minSyncPeriod`) || 1_000,
  };
}

function localhostNodePorts(reader: ConfigurationReader, fields: Fields): boolean {
  const { localhostNodePorts: value } = reader.object(fields.iptables, 'iptables');
  return reader.boolean(value, 'iptables.localhostNodePorts', true);
}
