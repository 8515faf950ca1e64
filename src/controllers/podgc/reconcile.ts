import { core } from '#api';
import { compareBytes, isConditionTrue } from '#machinery';

export interface ObservedPods {
  readonly pods: readonly core.Pod[];
  node(name: string): core.Node | undefined;
  /** Nodes that have been missing for the quarantine and that the server confirmed as deleted. */
  readonly lostNodes: ReadonlySet<string>;
  /** How many finished pods are kept; 0 or less: all. */
  readonly terminatedThreshold: number;
}

export interface Deletion {
  readonly pod: core.Pod;
  /** The message of the DisruptionTarget condition that is written first, if the node will not return. */
  readonly message: string | undefined;
}

const OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service';

/** Pods that no other component deletes. */
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

/** Beyond the threshold evicted pods are deleted first, then the oldest. */
function surplusTerminated(pods: readonly core.Pod[], threshold: number): readonly core.Pod[] {
  if (threshold <= 0) return [];
  const terminated = pods.filter(
    (pod) => core.isPodTerminal(pod) || !['Pending', 'Running', 'Unknown'].includes(pod.status?.phase ?? 'Pending'),
  );
  if (terminated.length <= threshold) return [];
  const order = ({ status, metadata }: core.Pod) =>
    `${status?.reason === 'Evicted' ? 0 : 1}${metadata.creationTimestamp}\0${metadata.name}`;
  return terminated.sort((a, b) => compareBytes(order(a), order(b))).slice(0, terminated.length - threshold);
}
