import type { KubeletConfiguration, LinuxKubeletConfig } from '#kubelet';
import { booleanValue, durationValue, type Flag, type FlagTable, listValue, oneOf } from './flag-table.ts';

type Settings = Partial<LinuxKubeletConfig>;
type Field = keyof KubeletConfiguration;

/** The format of a value and its parser. */
interface Form {
  readonly value: string;
  readonly repeatable?: boolean;
  read(text: string): unknown;
}

const TEXT: Form = { value: 'text', read: (text) => text };
const BOOL: Form = { value: 'bool', read: booleanValue };
const NUMBER: Form = { value: 'number', read: integerValue };
const DURATION: Form = {
  value: 'duration',
  read: (text) => {
    durationValue(text);
    return text;
  },
};
const LIST: Form = { value: 'list', read: listValue, repeatable: true };
const PAIRS: Form = { value: 'key=value,…', read: (text) => pairsValue(text), repeatable: true };
const THRESHOLDS: Form = { value: 'signal<quantity,…', read: (text) => pairsValue(text, '<'), repeatable: true };
const GATES: Form = {
  value: 'name=bool,…',
  read: (text) => Object.fromEntries(Object.entries(pairsValue(text)).map(([name, on]) => [name, booleanValue(on)])),
  repeatable: true,
};

/** kubelet flags that are fields of KubeletConfiguration, documented there. */
const FLAGS: readonly (readonly [name: string, form: Form, field: Field])[] = [
  ['enable-server', BOOL, 'enableServer'],
  ['fail-swap-on', BOOL, 'failSwapOn'],
  ['pod-manifest-path', TEXT, 'staticPodPath'],
  ['sync-frequency', DURATION, 'syncFrequency'],
  ['file-check-frequency', DURATION, 'fileCheckFrequency'],
  ['http-check-frequency', DURATION, 'httpCheckFrequency'],
  ['manifest-url', TEXT, 'staticPodURL'],
  ['manifest-url-header', { value: 'name:value,…', read: headersValue, repeatable: true }, 'staticPodURLHeader'],
  ['address', TEXT, 'address'],
  ['port', NUMBER, 'port'],
  ['read-only-port', NUMBER, 'readOnlyPort'],
  ['fail-cgroupv1', BOOL, 'failCgroupV1'],
  ['tls-cert-file', TEXT, 'tlsCertFile'],
  ['tls-private-key-file', TEXT, 'tlsPrivateKeyFile'],
  ['rotate-server-certificates', BOOL, 'serverTLSBootstrap'],
  ['tls-cipher-suites', LIST, 'tlsCipherSuites'],
  ['tls-min-version', TEXT, 'tlsMinVersion'],
  ['rotate-certificates', BOOL, 'rotateCertificates'],
  ['registry-qps', NUMBER, 'registryPullQPS'],
  ['registry-burst', NUMBER, 'registryBurst'],
  ['event-qps', NUMBER, 'eventRecordQPS'],
  ['event-burst', NUMBER, 'eventBurst'],
  ['enable-debugging-handlers', BOOL, 'enableDebuggingHandlers'],
  ['contention-profiling', BOOL, 'enableContentionProfiling'],
  ['healthz-port', NUMBER, 'healthzPort'],
  ['healthz-bind-address', TEXT, 'healthzBindAddress'],
  ['oom-score-adj', NUMBER, 'oomScoreAdj'],
  ['cluster-domain', TEXT, 'clusterDomain'],
  ['cluster-dns', LIST, 'clusterDNS'],
  ['volume-plugin-dir', TEXT, 'volumePluginDir'],
  ['streaming-connection-idle-timeout', DURATION, 'streamingConnectionIdleTimeout'],
  ['node-status-update-frequency', DURATION, 'nodeStatusUpdateFrequency'],
  ['minimum-image-ttl-duration', DURATION, 'imageMinimumGCAge'],
  ['image-gc-high-threshold', NUMBER, 'imageGCHighThresholdPercent'],
  ['image-gc-low-threshold', NUMBER, 'imageGCLowThresholdPercent'],
  ['volume-stats-agg-period', DURATION, 'volumeStatsAggPeriod'],
  ['feature-gates', GATES, 'featureGates'],
  ['kubelet-cgroups', TEXT, 'kubeletCgroups'],
  ['system-cgroups', TEXT, 'systemCgroups'],
  ['provider-id', TEXT, 'providerID'],
  ['cgroups-per-qos', BOOL, 'cgroupsPerQOS'],
  ['cgroup-driver', TEXT, 'cgroupDriver'],
  ['cgroup-root', TEXT, 'cgroupRoot'],
  ['cpu-manager-policy', TEXT, 'cpuManagerPolicy'],
  ['cpu-manager-policy-options', PAIRS, 'cpuManagerPolicyOptions'],
  ['cpu-manager-reconcile-period', DURATION, 'cpuManagerReconcilePeriod'],
  ['qos-reserved', PAIRS, 'qosReserved'],
  ['topology-manager-policy', TEXT, 'topologyManagerPolicy'],
  ['runtime-request-timeout', DURATION, 'runtimeRequestTimeout'],
  ['hairpin-mode', TEXT, 'hairpinMode'],
  ['max-pods', NUMBER, 'maxPods'],
  ['pod-cidr', TEXT, 'podCIDR'],
  ['pod-max-pids', NUMBER, 'podPidsLimit'],
  ['resolv-conf', TEXT, 'resolvConf'],
  ['runonce', BOOL, 'runOnce'],
  ['cpu-cfs-quota', BOOL, 'cpuCFSQuota'],
  ['cpu-cfs-quota-period', DURATION, 'cpuCFSQuotaPeriod'],
  ['enable-controller-attach-detach', BOOL, 'enableControllerAttachDetach'],
  ['make-iptables-util-chains', BOOL, 'makeIPTablesUtilChains'],
  ['container-log-max-size', TEXT, 'containerLogMaxSize'],
  ['container-log-max-files', NUMBER, 'containerLogMaxFiles'],
  ['allowed-unsafe-sysctls', LIST, 'allowedUnsafeSysctls'],
  ['node-status-max-images', NUMBER, 'nodeStatusMaxImages'],
  ['kernel-memcg-notification', BOOL, 'kernelMemcgNotification'],
  ['local-storage-capacity-isolation', BOOL, 'localStorageCapacityIsolation'],
  ['max-open-files', NUMBER, 'maxOpenFiles'],
  ['kube-api-content-type', TEXT, 'contentType'],
  ['serialize-image-pulls', BOOL, 'serializeImagePulls'],
  ['eviction-hard', THRESHOLDS, 'evictionHard'],
  ['eviction-soft', THRESHOLDS, 'evictionSoft'],
  ['eviction-soft-grace-period', PAIRS, 'evictionSoftGracePeriod'],
  ['eviction-pressure-transition-period', DURATION, 'evictionPressureTransitionPeriod'],
  ['eviction-max-pod-grace-period', NUMBER, 'evictionMaxPodGracePeriod'],
  ['eviction-minimum-reclaim', PAIRS, 'evictionMinimumReclaim'],
  ['pods-per-core', NUMBER, 'podsPerCore'],
  ['protect-kernel-defaults', BOOL, 'protectKernelDefaults'],
  ['reserved-cpus', TEXT, 'reservedSystemCPUs'],
  ['topology-manager-scope', TEXT, 'topologyManagerScope'],
  ['topology-manager-policy-options', PAIRS, 'topologyManagerPolicyOptions'],
  ['system-reserved', PAIRS, 'systemReserved'],
  ['kube-reserved', PAIRS, 'kubeReserved'],
  ['enforce-node-allocatable', LIST, 'enforceNodeAllocatable'],
  ['system-reserved-cgroup', TEXT, 'systemReservedCgroup'],
  ['kube-reserved-cgroup', TEXT, 'kubeReservedCgroup'],
  ['memory-manager-policy', TEXT, 'memoryManagerPolicy'],
  ['register-node', BOOL, 'registerNode'],
  ['seccomp-default', BOOL, 'seccompDefault'],
];

/** Flags of nested fields. */
const ACCESS_FLAGS: FlagTable<Settings> = {
  'anonymous-auth': access('bool', (value) => ({ authentication: { anonymous: { enabled: booleanValue(value) } } })),
  'authentication-token-webhook': access('bool', (value) => ({ authentication: { webhook: { enabled: booleanValue(value) } } })),
  'authentication-token-webhook-cache-ttl': access('duration', (value) => ({ authentication: { webhook: { cacheTTL: value } } })),
  'client-ca-file': access('file', (value) => ({ authentication: { x509: { clientCAFile: value } } })),
  'authorization-mode': access('mode', (value) => ({ authorization: { mode: oneOf(value, ['AlwaysAllow', 'Webhook']) } })),
  'authorization-webhook-cache-authorized-ttl': access('duration', (value) => ({
    authorization: { webhook: { cacheAuthorizedTTL: value } },
  })),
  'authorization-webhook-cache-unauthorized-ttl': access('duration', (value) => ({
    authorization: { webhook: { cacheUnauthorizedTTL: value } },
  })),
};

/** Flags that are fields of KubeletConfiguration. They take precedence over the file. */
export const KUBELET_CONFIGURATION_FLAGS: FlagTable<Settings> = {
  ...Object.fromEntries(FLAGS.map(([name, form, field]) => [name, configurationFlag(form, field)])),
  ...ACCESS_FLAGS,
};

function configurationFlag({ value, repeatable, read }: Form, field: Field): Flag<Settings> {
  return {
    ...{ value, help: `${field} of a KubeletConfiguration` },
    ...(repeatable && { repeatable }),
    apply: (c, text) => ({ ...c, configuration: { ...c.configuration, [field]: read(text) } }),
  };
}

function access(value: string, read: (text: string) => KubeletConfiguration): Flag<Settings> {
  return {
    ...{ value, help: "who may use the kubelet's server" },
    apply: (c, text) => ({ ...c, configuration: merged(c.configuration ?? {}, read(text)) }),
  };
}

function merged<T extends object>(base: T, change: Partial<T>): T {
  const entries = Object.entries(change).map(([key, value]) => {
    const before = (base as Record<string, unknown>)[key];
    return [key, typeof value === 'object' && typeof before === 'object' && before ? merged(before, value as object) : value];
  });
  return { ...base, ...Object.fromEntries(entries) };
}

export function pairsValue(text: string, separator = '='): Readonly<Record<string, string>> {
  return Object.fromEntries(
    listValue(text).map((pair) => {
      const at = pair.indexOf(separator);
      if (at <= 0) throw new Error(`'${pair}' is not of the form key${separator}value`);
      return [pair.slice(0, at).trim(), pair.slice(at + separator.length).trim()];
    }),
  );
}

function headersValue(text: string): Readonly<Record<string, readonly string[]>> {
  const headers = new Map<string, string[]>();
  for (const pair of listValue(text)) {
    const [name = '', ...rest] = pair.split(':');
    if (rest.length === 0) throw new Error(`'${pair}' is not of the form name:value`);
    headers.set(name.trim(), [...(headers.get(name.trim()) ?? []), rest.join(':').trim()]);
  }
  return Object.fromEntries(headers);
}

function integerValue(text: string): number {
  if (!/^-?\d+$/.test(text)) throw new Error(`'${text}' is no whole number`);
  return Number(text);
}
