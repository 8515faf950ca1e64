import { parseDurationMs, Quantity } from '#machinery';
import type { EvictionConfig } from '../eviction/thresholds.ts';
import type { PullVerification, VerificationPolicy } from '../images/pull-verification.ts';
import type { LinuxPartsConfig } from '../linux/linux-parts.ts';
import type { NodeResourcesConfig } from '../linux/node-resources.ts';
import type { KubeletConfig } from '../node/node-config.ts';
import type { CpuManagerPolicy } from '../resources/cpu-manager.ts';
import { parseCpuManagerOptions } from '../resources/cpu-manager-options.ts';
import type { MemoryManagerPolicy } from '../resources/memory-manager.ts';
import type { TopologyPolicy, TopologyScope } from '../resources/topology-hints.ts';
import { withDefaults } from './defaults.ts';
import type { KubeletConfiguration } from './kubelet-configuration.ts';

/** The settings of the kubelet's parts from a configuration. Unset fields are left to their defaults and to the caller. */
export function settingsOf(configuration: KubeletConfiguration): Partial<KubeletConfig & LinuxPartsConfig> {
  const settings = {
    clusterDns: configuration.clusterDNS,
    clusterDomain: configuration.clusterDomain,
    maxPods: configuration.maxPods,
    podsPerCore: configuration.podsPerCore,
    port: configuration.port,
    providerId: configuration.providerID,
    registerNode: configuration.registerNode,
    registerWithTaints: configuration.registerWithTaints,
    nodeLeaseDurationSeconds: configuration.nodeLeaseDurationSeconds,
    nodeStatusReportMs: durationOf(configuration.nodeStatusReportFrequency ?? configuration.nodeStatusUpdateFrequency),
    nodeStatusUpdateMs: durationOf(configuration.nodeStatusUpdateFrequency),
    nodeStatusMaxImages: configuration.nodeStatusMaxImages,
    maxParallelImagePulls: parallelPulls(configuration),
    pullRate: pullRate(configuration),
    eventRate: eventRate(configuration),
    countsLocalStorage: configuration.localStorageCapacityIsolation,
    volumeStatsMs: durationOf(configuration.volumeStatsAggPeriod),
    allowedUnsafeSysctls: configuration.allowedUnsafeSysctls,
    maxRestartBackoffMs: durationOf(configuration.crashLoopBackOff?.maxContainerRestartPeriod),
    resolvConf: configuration.resolvConf,
    podLogsDir: configuration.podLogsDir,
    cgroupRoot: configuration.cgroupRoot,
    cgroupsPerQos: configuration.cgroupsPerQOS,
    cgroupDriver: configuration.cgroupDriver === 'systemd' ? ('systemd' as const) : undefined,
    podPidsLimit: (configuration.podPidsLimit ?? -1) < 0 ? undefined : configuration.podPidsLimit,
    seccompDefault: configuration.seccompDefault,
    cpuQuotaPeriodUs: cpuQuotaPeriod(configuration),
    swapBehavior: configuration.memorySwap?.swapBehavior,
    singleProcessOomKill: configuration.singleProcessOOMKill,
    pullVerification: pullVerification(configuration),
    idsPerPod: configuration.userNamespaces?.idsPerPod,
    enforceNodeAllocatable: configuration.enforceNodeAllocatable,
    systemReserved: configuration.systemReserved,
    systemReservedCgroup: configuration.systemReservedCgroup,
    kubeReserved: configuration.kubeReserved,
    kubeReservedCgroup: configuration.kubeReservedCgroup,
    ...evictionSettings(configuration),
    ...resourceSettings(configuration),
    shutdownGracePeriodMs: durationOf(configuration.shutdownGracePeriod),
    shutdownGracePeriodCriticalPodsMs: durationOf(configuration.shutdownGracePeriodCriticalPods),
    shutdownGracePeriodByPodPriority: configuration.shutdownGracePeriodByPodPriority?.map(
      ({ priority = 0, shutdownGracePeriodSeconds = 0 }) => ({
        priority,
        shutdownGracePeriodSeconds,
      }),
    ),
    containerLogMaxBytes: configuration.containerLogMaxSize ? Quantity.parse(configuration.containerLogMaxSize).value() : undefined,
    containerLogMaxFiles: configuration.containerLogMaxFiles,
    containerLogMaxWorkers: configuration.containerLogMaxWorkers,
    containerLogMonitorMs: durationOf(configuration.containerLogMonitorInterval),
    imageMinimumGCAgeMs: durationOf(configuration.imageMinimumGCAge),
    imageMaximumGCAgeMs: durationOf(configuration.imageMaximumGCAge),
    imageGCHighThresholdPercent: configuration.imageGCHighThresholdPercent,
    imageGCLowThresholdPercent: configuration.imageGCLowThresholdPercent,
  };
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined && value !== ''));
}

function evictionSettings(configuration: KubeletConfiguration): EvictionConfig {
  const { evictionSoft, evictionSoftGracePeriod, evictionMinimumReclaim, evictionMaxPodGracePeriod } = configuration;
  const transitionMs = durationOf(configuration.evictionPressureTransitionPeriod);
  return {
    ...(configuration.evictionHard && { evictionHard: withDefaults(configuration).evictionHard }),
    ...(evictionSoft && { evictionSoft }),
    ...(evictionSoftGracePeriod && { evictionSoftGracePeriod }),
    ...(evictionMinimumReclaim && { evictionMinimumReclaim }),
    ...(transitionMs !== undefined && { evictionPressureTransitionPeriodMs: transitionMs }),
    ...(evictionMaxPodGracePeriod !== undefined && { evictionMaxPodGracePeriod }),
  };
}

function resourceSettings(configuration: KubeletConfiguration): NodeResourcesConfig {
  const { cpuManagerPolicy, cpuManagerPolicyOptions, reservedSystemCPUs, memoryManagerPolicy, topologyManagerPolicy } = configuration;
  const { reservedMemory, topologyManagerScope } = configuration;
  return {
    ...(cpuManagerPolicy && { cpuManagerPolicy: cpuManagerPolicy as CpuManagerPolicy }),
    ...(cpuManagerPolicyOptions && { cpuManagerPolicyOptions: parseCpuManagerOptions(cpuManagerPolicyOptions) }),
    ...(reservedSystemCPUs && { reservedSystemCPUs }),
    ...(memoryManagerPolicy && { memoryManagerPolicy: memoryManagerPolicy as MemoryManagerPolicy }),
    ...(reservedMemory && { reservedMemory: reservedMemory.map(({ numaNode = 0, limits = {} }) => ({ numaNode, limits })) }),
    ...(topologyManagerPolicy && { topologyManagerPolicy: topologyManagerPolicy as TopologyPolicy }),
    ...(topologyManagerScope && { topologyManagerScope: topologyManagerScope as TopologyScope }),
  };
}

/** As upstream, zero is unset. */
function durationOf(text: string | undefined): number | undefined {
  return (text === undefined ? undefined : parseDurationMs(text)) || undefined;
}

function parallelPulls({ serializeImagePulls, maxParallelImagePulls }: KubeletConfiguration): number | undefined {
  if (serializeImagePulls === undefined && maxParallelImagePulls === undefined) return undefined;
  const isSerial = serializeImagePulls ?? (maxParallelImagePulls ?? 1) < 2;
  return isSerial ? 1 : (maxParallelImagePulls ?? Number.POSITIVE_INFINITY);
}

function pullVerification(configuration: KubeletConfiguration): PullVerification | undefined {
  const { imagePullCredentialsVerificationPolicy: policy, preloadedImagesVerificationAllowlist: allowlist = [] } = configuration;
  return policy ? { policy: policy as VerificationPolicy, allowlist } : undefined;
}

/** Unlimited when the rate is zero. */
function pullRate({ registryPullQPS, registryBurst }: KubeletConfiguration): KubeletConfig['pullRate'] {
  if (registryPullQPS === undefined && registryBurst === undefined) return undefined;
  const perSecond = registryPullQPS ?? 5;
  return perSecond === 0 ? undefined : { perSecond, burst: Math.max(1, registryBurst ?? 10) };
}

/** Unlimited when the rate is zero. */
function eventRate({ eventRecordQPS, eventBurst }: KubeletConfiguration): KubeletConfig['eventRate'] {
  if (eventRecordQPS === undefined && eventBurst === undefined) return undefined;
  const perSecond = eventRecordQPS ?? 50;
  return perSecond === 0 ? undefined : { perSecond, burst: Math.max(1, eventBurst ?? 100) };
}

/** 0: CPU limits are not enforced. */
function cpuQuotaPeriod({ cpuCFSQuota, cpuCFSQuotaPeriod: period }: KubeletConfiguration): number | undefined {
  if (cpuCFSQuota === false) return 0;
  return period === undefined ? undefined : Math.round(parseDurationMs(period) * 1000);
}
