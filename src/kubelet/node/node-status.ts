import type { core } from '#api';
import { findCondition, formatTime } from '#machinery';
import type { Image, RuntimeStatus } from '../cri/runtime.ts';
import type { NodeConfig } from './node-config.ts';
import type { ExtendedResources } from './node-parts.ts';
import type { NodePressure } from './node-pressure.ts';

export interface NodeFacts {
  readonly config: NodeConfig;
  /** Such as `containerd://1.7.0`. */
  readonly runtimeVersion: string;
  /** The capabilities that the runtime reports. */
  readonly runtime?: Pick<RuntimeStatus, 'handlers' | 'features'>;
  readonly problems: readonly string[];
  readonly pressure: NodePressure;
  /** The resources of device plugins. */
  readonly extended?: ExtendedResources | undefined;
  readonly images: readonly Image[];
  readonly nowMs: number;
}

interface ConditionUpdate {
  readonly type: string;
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

/** Upstream's limit of names per image. */
const MAX_NAMES = 5;

/** The node features that the scheduler and API server of this version check; sorted, as validation requires. */
const DECLARED_FEATURES = [
  'ExtendWebSocketsToKubelet',
  'InPlacePodLevelResourcesVerticalScaling',
  'InPlacePodVerticalScalingInitContainers',
  'RestartAllContainersOnContainerExits',
];

/** The node's status; unchanged conditions keep their transition time from `previous`. Pure. */
export function nodeStatus(facts: NodeFacts, previous: core.NodeStatus | undefined): core.NodeStatus {
  const { config, runtimeVersion, images, nowMs } = facts;
  const now = formatTime(nowMs);
  const conditions = conditionUpdates(facts).map((update) => {
    const old = findCondition(previous?.conditions, update.type);
    const lastTransitionTime = old?.status === update.status ? (old.lastTransitionTime ?? now) : now;
    return { ...update, lastHeartbeatTime: now, lastTransitionTime };
  });
  return {
    capacity: { ...config.capacity, ...facts.extended?.capacity },
    allocatable: { ...config.allocatable, ...facts.extended?.allocatable },
    conditions,
    addresses: addressesOf(config),
    daemonEndpoints: { kubeletEndpoint: { Port: config.port } },
    nodeInfo: { ...config.info, containerRuntimeVersion: runtimeVersion },
    declaredFeatures: DECLARED_FEATURES,
    ...runtimeAbilities(facts),
    ...(images.length > 0 && { images: nodeImages(images, config.maxImages) }),
  };
}

/** Runtimes without handlers predate this field. */
function runtimeAbilities({ runtime }: NodeFacts): Pick<core.NodeStatus, 'runtimeHandlers' | 'features'> {
  if (runtime === undefined || runtime.handlers.length === 0) return {};
  return {
    runtimeHandlers: runtime.handlers.map(({ name, recursiveReadOnlyMounts, userNamespaces }) => ({
      name,
      features: { recursiveReadOnlyMounts, userNamespaces },
    })),
    features: { supplementalGroupsPolicy: runtime.features.supplementalGroupsPolicy },
  };
}

/** The largest images: the scheduler prefers nodes that have them. */
function nodeImages(images: readonly Image[], count: number): core.ContainerImage[] {
  return images
    .toSorted((a, b) => b.sizeBytes - a.sizeBytes)
    .slice(0, count)
    .map(({ repoDigests, repoTags, sizeBytes }) => ({ names: [...repoDigests, ...repoTags].slice(0, MAX_NAMES), sizeBytes }));
}

function addressesOf({ nodeName, nodeIps }: NodeConfig): core.NodeAddress[] {
  return [...nodeIps.map((address) => ({ type: 'InternalIP', address })), { type: 'Hostname', address: nodeName }];
}

function conditionUpdates({ pressure, problems }: NodeFacts): readonly ConditionUpdate[] {
  return [
    pressure.memory
      ? conditionUpdate('MemoryPressure', 'True', 'KubeletHasInsufficientMemory', 'kubelet has insufficient memory available')
      : conditionUpdate('MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'),
    pressure.disk
      ? conditionUpdate('DiskPressure', 'True', 'KubeletHasDiskPressure', 'kubelet has disk pressure')
      : conditionUpdate('DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'),
    pressure.pid
      ? conditionUpdate('PIDPressure', 'True', 'KubeletHasInsufficientPID', 'kubelet has insufficient PID available')
      : conditionUpdate('PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'),
    problems.length === 0
      ? conditionUpdate('Ready', 'True', 'KubeletReady', 'kubelet is posting ready status')
      : conditionUpdate('Ready', 'False', 'KubeletNotReady', problems.length === 1 ? (problems[0] as string) : `[${problems.join(', ')}]`),
  ];
}

function conditionUpdate(type: string, status: ConditionUpdate['status'], reason: string, message: string): ConditionUpdate {
  return { type, status, reason, message };
}

/** Upstream's event for a changed condition. */
export function conditionEvent({ type, status }: core.NodeCondition): string {
  if (type === 'Ready') return status === 'True' ? 'NodeReady' : 'NodeNotReady';
  const isShort = status === 'True';
  if (type === 'MemoryPressure') return isShort ? 'NodeHasInsufficientMemory' : 'NodeHasSufficientMemory';
  if (type === 'DiskPressure') return isShort ? 'NodeHasDiskPressure' : 'NodeHasNoDiskPressure';
  return isShort ? 'NodeHasInsufficientPID' : 'NodeHasSufficientPID';
}
