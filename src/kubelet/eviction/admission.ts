import { core } from '#api';
import type { NodePressure } from '../node/node-pressure.ts';
import { isCritical } from '../pods/config/critical-pods.ts';
import type { PodRejection } from '../status/pod-status.ts';

const MEMORY_TAINT = { key: 'node.kubernetes.io/memory-pressure', effect: 'NoSchedule' };

/** Why a node under pressure rejects a pod: under memory pressure, pods with memory requests are still admitted. Pure. */
export function pressureProblem(pod: core.Pod, { memory, disk, pid }: NodePressure): PodRejection | undefined {
  const conditions = [...(memory ? ['MemoryPressure'] : []), ...(disk ? ['DiskPressure'] : []), ...(pid ? ['PIDPressure'] : [])];
  if (conditions.length === 0 || isCritical(pod)) return undefined;
  if (memory && conditions.length === 1) {
    if (pod.status?.qosClass !== 'BestEffort') return undefined;
    if (core.isTaintTolerated(pod.spec?.tolerations ?? [], MEMORY_TAINT)) return undefined;
  }
  return { reason: 'Evicted', message: `The node had condition: [${conditions.join(' ')}]. ` };
}
