import type { core } from '#api';
import { compareBytes, isConditionTrue } from '#machinery';
import { isPodTerminal } from '../runtime/pod-state.ts';

export interface ObservedPods {
  readonly pods: readonly core.Pod[];
  node(name: string): core.Node | undefined;
  /** Nodes that have been missing for long enough, and that the server confirmed are gone. */
  readonly lostNodes: ReadonlySet<string>;
  /** How many finished pods may stay; 0 and less: all of them. */
  readonly terminatedThreshold: number;
}

export interface Deletion {
  readonly pod: core.Pod;
  /** What is written into the pod's status first, when its node will not come back. */
  readonly message: string | undefined;
}

const OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service';

/** The pods that nobody else will ever delete. */
export function podsToCollect({ pods, node, lostNodes, terminatedThreshold }: ObservedPods): readonly Deletion[] {
  const deletions = new Map<core.Pod, Deletion>();
  const add = (pod: core.Pod, message: string | undefined) => deletions.has(pod) || deletions.set(pod, { pod, message });
  for (const pod of surplusTerminated(pods, terminatedThreshold)) add(pod, undefined);
  for (const pod of pods) {
    const { nodeName = '' } = pod.spec ?? {};
    const isDeleted = pod.metadata.deletionTimestamp !== undefined;
    if (isDeleted && isOutOfService(node(nodeName))) add(pod, undefined);
    else if (nodeName !== '' && lostNodes.has(nodeName)) add(pod, 'PodGC: node no longer exists');
    else if (isDeleted && nodeName === '') add(pod, undefined);
  }
  return [...deletions.values()];
}

function isOutOfService(node: core.Node | undefined): boolean {
  if (node === undefined || isConditionTrue(node.status?.conditions, 'Ready')) return false;
  return (node.spec?.taints ?? []).some(({ key }) => key === OUT_OF_SERVICE);
}

/** Beyond the threshold, evicted pods and then the oldest go first. */
function surplusTerminated(pods: readonly core.Pod[], threshold: number): readonly core.Pod[] {
  if (threshold <= 0) return [];
  const terminated = pods.filter(
    (pod) => isPodTerminal(pod) || !['Pending', 'Running', 'Unknown'].includes(pod.status?.phase ?? 'Pending'),
  );
  if (terminated.length <= threshold) return [];
  const order = ({ status, metadata }: core.Pod) =>
    `${status?.reason === 'Evicted' ? 0 : 1}${metadata.creationTimestamp}\0${metadata.name}`;
  return terminated.sort((a, b) => compareBytes(order(a), order(b))).slice(0, terminated.length - threshold);
}
