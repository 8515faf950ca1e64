import { parseYaml } from '#machinery';
import { LOCAL_MODES, PROXY_MODES, readProxyConfiguration } from '#proxy';
import { commonFlagsWithoutEffect } from './common-flags.ts';
import {
  booleanValue,
  durationValue,
  type FlagTable,
  fileText,
  flagsWithoutEffect,
  listValue,
  oneOf,
  wholeNumberValue,
} from './flag-table.ts';

/** Fields of KubeProxyConfiguration. */
export type ProxyFields = Readonly<Record<string, unknown>>;

const CONNTRACK_FLAGS: FlagTable<ProxyFields> = {
  'conntrack-max-per-core': {
    value: 'count',
    help: 'connections that the kernel tracks, for each core; 0: as it is (default: 32768)',
    apply: (c, value) => inConntrack(c, { maxPerCore: wholeNumberValue(value) }),
  },
  'conntrack-min': {
    value: 'count',
    help: 'the minimum size of the connection tracking table (default: 131072)',
    apply: (c, value) => inConntrack(c, { min: wholeNumberValue(value) }),
  },
  'conntrack-tcp-timeout-established': {
    value: 'duration',
    help: 'how long idle TCP connections are tracked; 0s: as it is (default: 24h)',
    apply: (c, value) => inConntrack(c, { tcpEstablishedTimeout: durationText(value) }),
  },
  'conntrack-tcp-timeout-close-wait': {
    value: 'duration',
    help: 'how long half-closed TCP connections are tracked; 0s: as it is (default: 1h)',
    apply: (c, value) => inConntrack(c, { tcpCloseWaitTimeout: durationText(value) }),
  },
  'conntrack-tcp-be-liberal': {
    value: 'bool',
    help: 'let packets outside of the TCP window pass (default: false)',
    apply: (c, value) => inConntrack(c, { tcpBeLiberal: booleanValue(value) }),
  },
  'conntrack-udp-timeout': {
    value: 'duration',
    help: 'how long unanswered UDP flows are tracked; 0s: as it is (default: 0s)',
    apply: (c, value) => inConntrack(c, { udpTimeout: durationText(value) }),
  },
  'conntrack-udp-timeout-stream': {
    value: 'duration',
    help: 'how long answered UDP flows are tracked; 0s: as it is (default: 0s)',
    apply: (c, value) => inConntrack(c, { udpStreamTimeout: durationText(value) }),
  },
};

function inConntrack(fields: ProxyFields, change: object): ProxyFields {
  return { ...fields, conntrack: { ...(fields.conntrack as object), ...change } };
}

const FLAGS_WITHOUT_EFFECT: FlagTable<ProxyFields> = {
  ...commonFlagsWithoutEffect<ProxyFields>(),
  ...flagsWithoutEffect<ProxyFields>('give the address of the API server in --kubeconfig', { master: 'text' }),
  ...flagsWithoutEffect<ProxyFields>('objects are exchanged as JSON', { 'kube-api-content-type': 'text' }),
  ...flagsWithoutEffect<ProxyFields>('changes are watched', { 'config-sync-period': 'duration' }),
  ...flagsWithoutEffect<ProxyFields>('the mode ipvs is not there; choose nftables or iptables', {
    'ipvs-sync-period': 'duration',
    'ipvs-min-sync-period': 'duration',
    'ipvs-scheduler': 'text',
    'ipvs-exclude-cidrs': 'list',
    'ipvs-strict-arp': 'bool',
    'ipvs-tcp-timeout': 'duration',
    'ipvs-tcpfin-timeout': 'duration',
    'ipvs-udp-timeout': 'duration',
  }),
};

/** kube-proxy flags. They take precedence over the file. */
export const PROXY_FLAGS: FlagTable<ProxyFields> = {
  'proxy-mode': {
    value: 'mode',
    help: `how services are served: ${PROXY_MODES.join(', ')} (default: nftables where it works)`,
    apply: (c, value) => ({ ...c, mode: oneOf(value, PROXY_MODES) }),
  },
  'cluster-cidr': {
    value: 'ranges',
    help: 'the ranges of pods, separated by commas',
    apply: (c, value) => checked({ ...c, clusterCIDR: value }),
  },
  'detect-local-mode': {
    value: 'mode',
    help: 'what tells pods from others: ClusterCIDR, NodeCIDR, BridgeInterface or InterfaceNamePrefix',
    apply: (c, value) => ({ ...c, detectLocalMode: oneOf(value, LOCAL_MODES) }),
  },
  'pod-bridge-interface': {
    value: 'name',
    help: 'with BridgeInterface: the bridge of pods',
    apply: (c, value) => ({ ...c, detectLocal: { ...(c.detectLocal as object), bridgeInterface: value } }),
  },
  'pod-interface-name-prefix': {
    value: 'prefix',
    help: 'with InterfaceNamePrefix: the prefix of pod interface names',
    apply: (c, value) => ({ ...c, detectLocal: { ...(c.detectLocal as object), interfaceNamePrefix: value } }),
  },
  'bind-address': {
    value: 'address',
    help: "the node's own address (default: those in its status)",
    apply: (c, value) => checked({ ...c, bindAddress: value }),
  },
  'bind-address-hard-fail': {
    value: 'bool',
    help: 'end when a port cannot be listened on (default: false: it is tried again)',
    apply: (c, value) => ({ ...c, bindAddressHardFail: booleanValue(value) }),
  },
  'oom-score-adj': {
    value: 'score',
    help: 'the OOM score adjustment of the proxy, from -1000 to 1000 (default: -999)',
    apply: (c, value) => checked({ ...c, oomScoreAdj: Number(value) }),
  },
  ...CONNTRACK_FLAGS,
  'nodeport-addresses': {
    value: 'ranges',
    help: "where node ports are served: ranges, or primary for the node's own addresses (default: primary; in mode iptables all local addresses)",
    repeatable: true,
    apply: (c, value) => checked({ ...c, nodePortAddresses: listValue(value) }),
  },
  'healthz-bind-address': {
    value: 'address',
    help: 'where /healthz is served; empty: nowhere (default: 0.0.0.0:10256)',
    apply: (c, value) => checked({ ...c, healthzBindAddress: value }),
  },
  'metrics-bind-address': {
    value: 'address',
    help: 'where /metrics is served; empty: nowhere (default: 127.0.0.1:10249)',
    apply: (c, value) => checked({ ...c, metricsBindAddress: value }),
  },
  'healthz-port': {
    value: 'port',
    help: 'the port of /healthz, at all addresses; 0: nowhere (deprecated: use --healthz-bind-address)',
    apply: (c, value) => checked({ ...c, healthzBindAddress: addressOfPort('0.0.0.0', value) }),
  },
  'metrics-port': {
    value: 'port',
    help: 'the port of /metrics, on loopback; 0: nowhere (deprecated: use --metrics-bind-address)',
    apply: (c, value) => checked({ ...c, metricsBindAddress: addressOfPort('127.0.0.1', value) }),
  },
  'hostname-override': {
    value: 'name',
    help: "the node's name (default: the host's)",
    apply: (c, value) => ({ ...c, hostnameOverride: value }),
  },
  'masquerade-all': {
    value: 'bool',
    help: 'hide every client of a cluster address',
    apply: (c, value) => inRules(c, { masqueradeAll: booleanValue(value) }),
  },
  'iptables-localhost-nodeports': {
    value: 'bool',
    help: 'serve node ports at 127.0.0.1 too, in mode iptables (default: true)',
    apply: (c, value) => ({ ...c, iptables: { ...(c.iptables as object), localhostNodePorts: booleanValue(value) } }),
  },
  'iptables-masquerade-bit': {
    value: 'bit',
    help: 'the bit of the packet mark that requests masquerading (default: 14)',
    apply: (c, value) => inRules(c, { masqueradeBit: wholeNumberValue(value) }),
  },
  'iptables-sync-period': {
    value: 'duration',
    help: 'how often rules are checked (default: 30s)',
    apply: (c, value) => inRules(c, { syncPeriod: durationText(value) }),
  },
  'iptables-min-sync-period': {
    value: 'duration',
    help: 'how long to wait between two changes of rules (default: 1s)',
    apply: (c, value) => inRules(c, { minSyncPeriod: durationText(value) }),
  },
  ...FLAGS_WITHOUT_EFFECT,
};

export const PROXY_CONFIG_FLAG: FlagTable<ProxyFields> = {
  config: {
    value: 'file',
    help: 'a KubeProxyConfiguration',
    apply: (_, value, context) => checked(parseYaml(fileText(value, context)).value as ProxyFields),
  },
};

function checked(fields: ProxyFields): ProxyFields {
  readProxyConfiguration(fields);
  return fields;
}

function addressOfPort(host: string, value: string): string {
  const port = wholeNumberValue(value);
  return port === 0 ? '' : `${host}:${port}`;
}

function durationText(text: string): string {
  durationValue(text);
  return text;
}

/** Sets fields of both modes. */
function inRules(fields: ProxyFields, change: object): ProxyFields {
  const next = { ...fields };
  for (const section of ['nftables', 'iptables']) next[section as never] = { ...(fields[section] as object), ...change } as never;
  return checked(next);
}
