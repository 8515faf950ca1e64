import { DEFAULT_EVICTION_HARD } from '../eviction/thresholds.ts';
import type { KubeletConfiguration } from './kubelet-configuration.ts';

/** Upstream's defaults, except that cgroup v1 is allowed, and no runtime means a simulated one. */
const DEFAULTS = {
  enableServer: true,
  ...{ syncFrequency: '1m0s', fileCheckFrequency: '20s', httpCheckFrequency: '20s' },
  ...{ address: '0.0.0.0', port: 10250, readOnlyPort: 0 },
  ...{ registryPullQPS: 5, registryBurst: 10, eventRecordQPS: 50, eventBurst: 100 },
  imagePullCredentialsVerificationPolicy: 'NeverVerifyPreloadedImages',
  ...{ enableDebuggingHandlers: true, healthzPort: 10248, healthzBindAddress: '127.0.0.1', oomScoreAdj: -999 },
  ...{ clusterDomain: 'cluster.local', streamingConnectionIdleTimeout: '4h0m0s' },
  ...{ nodeStatusUpdateFrequency: '10s', nodeStatusReportFrequency: '5m0s', nodeLeaseDurationSeconds: 40 },
  ...{ imageMinimumGCAge: '2m0s', imageMaximumGCAge: '0s', imageGCHighThresholdPercent: 85, imageGCLowThresholdPercent: 80 },
  ...{ volumeStatsAggPeriod: '1m0s', cgroupsPerQOS: true, cgroupDriver: 'cgroupfs' },
  ...{ cpuManagerPolicy: 'none', cpuManagerReconcilePeriod: '10s', memoryManagerPolicy: 'None' },
  ...{ topologyManagerPolicy: 'none', topologyManagerScope: 'container' },
  ...{ runtimeRequestTimeout: '2m0s', hairpinMode: 'promiscuous-bridge', maxPods: 110, podPidsLimit: -1, resolvConf: '/etc/resolv.conf' },
  ...{ cpuCFSQuota: true, cpuCFSQuotaPeriod: '100ms', nodeStatusMaxImages: 50, maxOpenFiles: 1_000_000 },
  ...{ contentType: 'application/json', kubeAPIQPS: 50, kubeAPIBurst: 100 },
  ...{ evictionPressureTransitionPeriod: '5m0s', mergeDefaultEvictionSettings: false, podsPerCore: 0 },
  ...{ enableControllerAttachDetach: true, makeIPTablesUtilChains: true, iptablesMasqueradeBit: 14, iptablesDropBit: 15 },
  ...{ failSwapOn: true, containerLogMaxSize: '10Mi', containerLogMaxFiles: 5, containerLogMaxWorkers: 1 },
  ...{ containerLogMonitorInterval: '10s', configMapAndSecretChangeDetectionStrategy: 'Watch', enforceNodeAllocatable: ['pods'] },
  ...{ volumePluginDir: '/usr/libexec/kubernetes/kubelet-plugins/volume/exec/', enableSystemLogHandler: true },
  ...{ enableProfilingHandler: true, enableDebugFlagsHandler: true, seccompDefault: false, memoryThrottlingFactor: 0.9 },
  ...{ memoryReservationPolicy: 'None', registerNode: true, localStorageCapacityIsolation: true, failCgroupV1: false },
  ...{ podLogsDir: '/var/log/pods', shutdownGracePeriod: '0s', shutdownGracePeriodCriticalPods: '0s' },
} satisfies KubeletConfiguration;

const DEFAULT_ACCESS = {
  authentication: { anonymous: { enabled: false }, webhook: { enabled: true, cacheTTL: '2m0s' } },
  authorization: { mode: 'Webhook', webhook: { cacheAuthorizedTTL: '5m0s', cacheUnauthorizedTTL: '30s' } },
};

export type DefaultedConfiguration = Omit<KubeletConfiguration, keyof typeof DEFAULTS> &
  Required<Pick<KubeletConfiguration, keyof typeof DEFAULTS>> & {
    readonly serializeImagePulls: boolean;
    readonly evictionHard: Readonly<Record<string, string>>;
    readonly authentication: {
      readonly x509?: { readonly clientCAFile?: string };
      readonly anonymous: { readonly enabled: boolean };
      readonly webhook: { readonly enabled: boolean; readonly cacheTTL: string };
    };
    readonly authorization: {
      readonly mode: string;
      readonly webhook: { readonly cacheAuthorizedTTL: string; readonly cacheUnauthorizedTTL: string };
    };
  };

/** Fields for which upstream treats zero as unset. */
const ZERO_IS_UNSET: ReadonlySet<string> = new Set([
  ...['port', 'nodeLeaseDurationSeconds', 'registryBurst', 'eventBurst', 'maxPods', 'maxOpenFiles', 'kubeAPIBurst'],
]);

/** The configuration with defaults filled in. */
export function withDefaults(configuration: KubeletConfiguration): DefaultedConfiguration {
  const set = withoutUnset(configuration);
  const { authentication, authorization, maxParallelImagePulls = 1, nodeStatusUpdateFrequency, podPidsLimit = -1 } = set;
  const { authentication: authn, authorization: authz } = DEFAULT_ACCESS;
  return {
    ...DEFAULTS,
    serializeImagePulls: maxParallelImagePulls < 2,
    ...(nodeStatusUpdateFrequency !== undefined && { nodeStatusReportFrequency: nodeStatusUpdateFrequency }),
    ...set,
    podPidsLimit: Math.max(-1, podPidsLimit),
    evictionHard: evictionHard(set),
    authentication: {
      ...(authentication?.x509 && { x509: authentication.x509 }),
      anonymous: { ...authn.anonymous, ...authentication?.anonymous },
      webhook: { ...authn.webhook, ...withoutUnset(authentication?.webhook) },
    },
    authorization: {
      mode: authorization?.mode || authz.mode,
      webhook: { ...authz.webhook, ...withoutUnset(authorization?.webhook) },
    },
  };
}

function withoutUnset<T extends object>(configuration: T | undefined): Partial<T> {
  const isSet = ([name, value]: [string, unknown]) =>
    value !== undefined && value !== '' && !isZeroDuration(value) && !(value === 0 && ZERO_IS_UNSET.has(name));
  return Object.fromEntries(Object.entries(configuration ?? {}).filter(isSet)) as Partial<T>;
}

function isZeroDuration(value: unknown): boolean {
  return value === '0s' || value === '0';
}

/** Configured thresholds replace all defaults, unless mergeDefaultEvictionSettings is set. */
function evictionHard({ evictionHard: configured, mergeDefaultEvictionSettings }: KubeletConfiguration): Readonly<Record<string, string>> {
  if (configured === undefined) return DEFAULT_EVICTION_HARD;
  return mergeDefaultEvictionSettings === true ? { ...DEFAULT_EVICTION_HARD, ...configured } : configured;
}
