import type { core } from '#api';
import type { TokenBucketConfig } from '#base';
import { Quantity } from '#machinery';
import type { KubeletConfiguration } from '../configuration/kubelet-configuration.ts';
import type { EvictionConfig } from '../eviction/thresholds.ts';
import type { ImageGcConfig } from '../gc/image-garbage.ts';
import type { LogRotationConfig } from '../logs/log-rotation.ts';
import type { ShutdownConfig } from '../shutdown/shutdown-groups.ts';
import type { MachineInfo } from './machine-info.ts';
import { nodeAllocatable, type PodsLimit, podsLimit, reservationsOf } from './node-allocatable.ts';

/** The complete configuration of a node. */
export interface NodeConfig {
  readonly nodeName: string;
  readonly nodeIps: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly taints: readonly core.Taint[];
  readonly capacity: Readonly<Record<string, string>>;
  readonly allocatable: Readonly<Record<string, string>>;
  /** The kubepods cgroup limit: above the allocatable amount, so that eviction comes first. */
  readonly podsLimit: PodsLimit;
  readonly port: number;
  readonly info: Omit<core.NodeSystemInfo, 'containerRuntimeVersion'>;
  readonly providerId: string | undefined;
  readonly unschedulable: boolean;
  /** Undefined: unlimited. */
  readonly maxParallelImagePulls: number | undefined;
  readonly pullRate: TokenBucketConfig | undefined;
  readonly maxRestartBackoffMs: number | undefined;
  readonly allowedUnsafeSysctls: readonly string[];
  readonly hasAppArmor: boolean;
  readonly maxImages: number;
}

/** The kubelet's configuration. Hard eviction thresholds default to none, on a real machine to upstream's. */
export interface KubeletConfig extends EvictionConfig, ImageGcConfig, LogRotationConfig, ShutdownConfig {
  readonly nodeName: string;
  /** The node's addresses, at most one per family. Default: 127.0.0.1. */
  readonly nodeIps?: readonly string[];
  readonly nodeLabels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** As `--register-with-taints`. */
  readonly registerWithTaints?: readonly core.Taint[];
  /** As `--register-node`. Default true. */
  readonly registerNode?: boolean;
  /** As `--register-schedulable`. Default true. */
  readonly registerSchedulable?: boolean;
  readonly providerId?: string;
  /** Overrides the machine's capacity. */
  readonly capacity?: Readonly<Record<string, string>>;
  /** Upstream's configuration, as given: overrides the settings here. */
  readonly configuration?: KubeletConfiguration;
  /** The flags it was started with, for `/flagz`. */
  readonly flags?: ReadonlyMap<string, string>;
  /** As `eventRecordQPS` and `eventBurst`. Absent: unlimited. */
  readonly eventRate?: TokenBucketConfig;
  /** As `--local-storage-capacity-isolation`: whether local storage is a resource of the node. Default true. */
  readonly countsLocalStorage?: boolean;
  /** As `--volume-stats-agg-period`: how old the usage of volumes may be; negative: it is not measured. Default: measured for each request. */
  readonly volumeStatsMs?: number;
  readonly maxPods?: number;
  /** As `--pods-per-core`. Default 0: only `maxPods` limits. */
  readonly podsPerCore?: number;
  /** Concurrent image pulls. Default: unlimited; on a real machine one, as `serializeImagePulls`. */
  readonly maxParallelImagePulls?: number;
  /** The rate limit of image pulls. Default: unlimited. */
  readonly pullRate?: TokenBucketConfig;
  /** As `--allowed-unsafe-sysctls`: names, or prefixes ending with a star. */
  readonly allowedUnsafeSysctls?: readonly string[];
  /** The maximum CrashLoopBackOff delay. Default: five minutes. */
  readonly maxRestartBackoffMs?: number;
  /** As `--node-status-max-images`; -1: all of them. Default 50. */
  readonly nodeStatusMaxImages?: number;
  /** As `--node-status-update-frequency`. Default 10 s. */
  readonly nodeStatusUpdateMs?: number;
  /** The port of the kubelet's server, as reported in the node's status. */
  readonly port?: number;
  readonly info?: Partial<core.NodeSystemInfo>;
  readonly nodeLeaseDurationSeconds?: number;
  /** As `--node-status-report-frequency`. Default 5 min. */
  readonly nodeStatusReportMs?: number;
  /** As `--cluster-dns`: the DNS servers of pods. */
  readonly clusterDns?: readonly string[];
  /** As `--cluster-domain`. Default `cluster.local`. */
  readonly clusterDomain?: string;
  /** The node continues from an earlier kubelet: no Starting event is recorded. Default false. */
  readonly isContinued?: boolean;
}

export const DEFAULT_CLUSTER_DOMAIN = 'cluster.local';
const DEFAULT_MAX_PODS = 110;
const DEFAULT_MAX_IMAGES = 50;
export const KUBELET_PORT = 10250;
export const KUBELET_VERSION = 'v1.36.4';

/** The configuration with defaults. Throws a TypeError on invalid values. */
export function nodeConfig(config: KubeletConfig, machine: MachineInfo): NodeConfig {
  const { nodeName, nodeStatusMaxImages = DEFAULT_MAX_IMAGES } = config;
  if (nodeName === '') throw new TypeError('a kubelet needs the name of its node');
  const capacity = {
    ...machineCapacity(machine, config),
    ...config.capacity,
    pods: config.capacity?.pods ?? String(maxPodsOf(config, machine)),
  };
  const reserved = reservationsOf(config);
  const info = { ...machineFacts(machine), ...config.info };
  return {
    nodeName,
    nodeIps: config.nodeIps ?? ['127.0.0.1'],
    labels: { ...standardLabels(nodeName, info), ...config.nodeLabels },
    annotations: { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true', ...config.annotations },
    taints: config.registerWithTaints ?? [],
    capacity,
    allocatable: nodeAllocatable(capacity, reserved),
    podsLimit: podsLimit(capacity, reserved),
    port: config.port ?? KUBELET_PORT,
    info,
    providerId: config.providerId,
    unschedulable: config.registerSchedulable === false,
    maxParallelImagePulls: config.maxParallelImagePulls,
    pullRate: config.pullRate,
    maxRestartBackoffMs: config.maxRestartBackoffMs,
    allowedUnsafeSysctls: config.allowedUnsafeSysctls ?? [],
    hasAppArmor: machine.hasAppArmor,
    maxImages: nodeStatusMaxImages < 0 ? Infinity : nodeStatusMaxImages,
  };
}

function maxPodsOf({ maxPods = DEFAULT_MAX_PODS, podsPerCore = 0 }: KubeletConfig, { cpus }: MachineInfo): number {
  return podsPerCore > 0 ? Math.min(maxPods, podsPerCore * cpus) : maxPods;
}

function machineCapacity(
  { cpus, memoryBytes, storageBytes, hugePages }: MachineInfo,
  { countsLocalStorage = true }: KubeletConfig,
): Readonly<Record<string, string>> {
  const pages = hugePages.map(({ sizeBytes, count }) => [
    `hugepages-${Quantity.of(sizeBytes, 'BinarySI')}`,
    count === 0 ? '0' : Quantity.of(sizeBytes * count, 'BinarySI').toString(),
  ]);
  return {
    cpu: String(cpus),
    ...(countsLocalStorage && { 'ephemeral-storage': Quantity.of(storageBytes, 'BinarySI').toString() }),
    ...Object.fromEntries(pages.sort()),
    memory: Quantity.of(memoryBytes, 'BinarySI').toString(),
  };
}

type MachineFacts = Omit<core.NodeSystemInfo, 'containerRuntimeVersion'>;

function machineFacts(machine: MachineInfo): MachineFacts {
  const { machineId, systemUuid, bootId, kernelVersion, osImage, operatingSystem, architecture, swapBytes } = machine;
  return {
    ...{ machineID: machineId, systemUUID: systemUuid, bootID: bootId, kernelVersion, osImage, operatingSystem, architecture },
    ...{ kubeletVersion: KUBELET_VERSION, kubeProxyVersion: '' },
    ...(swapBytes > 0 && { swap: { capacity: swapBytes } }),
  };
}

function standardLabels(nodeName: string, { architecture, operatingSystem }: MachineFacts): Record<string, string> {
  return {
    'beta.kubernetes.io/arch': architecture,
    'beta.kubernetes.io/os': operatingSystem,
    'kubernetes.io/arch': architecture,
    'kubernetes.io/hostname': nodeName,
    'kubernetes.io/os': operatingSystem,
  };
}
