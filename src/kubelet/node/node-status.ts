import type { core } from '#api';
import { findCondition, formatTime } from '#machinery';
import type { ImageStatus } from '../cri/runtime.ts';
import type { NodeConfig } from './node-config.ts';

export interface NodeFacts {
  readonly config: NodeConfig;
  /** As `name://version`. */
  readonly runtimeVersion: string;
  readonly problems: readonly string[];
  readonly pressure: NodePressure;
  readonly images: readonly ImageStatus[];
  readonly nowMs: number;
}

/** What the node is short of. */
export interface NodePressure {
  readonly memory: boolean;
  readonly disk: boolean;
  readonly pid: boolean;
}

interface Finding {
  readonly type: string;
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

const MAX_IMAGES = 50;

/** The node's status; conditions keep the time of their last change from `previous`. Pure. */
export function nodeStatus(facts: NodeFacts, previous: core.NodeStatus | undefined): core.NodeStatus {
  const { config, runtimeVersion, images, nowMs } = facts;
  const now = formatTime(nowMs);
  const conditions = findings(facts).map((finding) => {
    const old = findCondition(previous?.conditions, finding.type);
    const lastTransitionTime = old?.status === finding.status ? (old.lastTransitionTime ?? now) : now;
    return { ...finding, lastHeartbeatTime: now, lastTransitionTime };
  });
  return {
    capacity: config.capacity,
    allocatable: config.allocatable,
    conditions,
    addresses: addressesOf(config),
    daemonEndpoints: { kubeletEndpoint: { Port: config.port } },
    nodeInfo: { ...config.info, containerRuntimeVersion: runtimeVersion },
    ...(images.length > 0 && {
      images: images.slice(0, MAX_IMAGES).map(({ names, ref, sizeBytes }) => ({ names: [ref, ...names], sizeBytes })),
    }),
  };
}

function addressesOf({ nodeName, nodeIps }: NodeConfig): core.NodeAddress[] {
  return [...nodeIps.map((address) => ({ type: 'InternalIP', address })), { type: 'Hostname', address: nodeName }];
}

function findings({ pressure, problems }: NodeFacts): readonly Finding[] {
  return [
    pressure.memory
      ? found('MemoryPressure', 'True', 'KubeletHasInsufficientMemory', 'kubelet has insufficient memory available')
      : found('MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'),
    pressure.disk
      ? found('DiskPressure', 'True', 'KubeletHasDiskPressure', 'kubelet has disk pressure')
      : found('DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'),
    pressure.pid
      ? found('PIDPressure', 'True', 'KubeletHasInsufficientPID', 'kubelet has insufficient PID available')
      : found('PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'),
    problems.length === 0
      ? found('Ready', 'True', 'KubeletReady', 'kubelet is posting ready status')
      : found('Ready', 'False', 'KubeletNotReady', problems.length === 1 ? (problems[0] as string) : `[${problems.join(', ')}]`),
  ];
}

function found(type: string, status: Finding['status'], reason: string, message: string): Finding {
  return { type, status, reason, message };
}

/** The event that upstream records when a condition changes. */
export function conditionEvent({ type, status }: core.NodeCondition): string {
  if (type === 'Ready') return status === 'True' ? 'NodeReady' : 'NodeNotReady';
  const isShort = status === 'True';
  if (type === 'MemoryPressure') return isShort ? 'NodeHasInsufficientMemory' : 'NodeHasSufficientMemory';
  if (type === 'DiskPressure') return isShort ? 'NodeHasDiskPressure' : 'NodeHasNoDiskPressure';
  return isShort ? 'NodeHasInsufficientPID' : 'NodeHasSufficientPID';
}
