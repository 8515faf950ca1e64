import { core } from '#api';

export interface NodeFit {
  /** A new pod may be placed there. */
  readonly shouldRun: boolean;
  /** A running pod may stay. */
  readonly shouldContinueRunning: boolean;
}

const NOWHERE: NodeFit = { shouldRun: false, shouldContinueRunning: false };

export function fitOf(spec: core.PodSpec, node: core.Node, tolerations: readonly core.Toleration[]): NodeFit {
  if (spec.nodeName && spec.nodeName !== node.metadata.name) return NOWHERE;
  const { name, labels = {} } = node.metadata;
  if (core.requiredNodeAffinity({ spec })?.matches({ name, labels }) === false) return NOWHERE;
  const untolerated = (node.spec?.taints ?? []).filter((taint) => !core.isTaintTolerated(tolerations, taint));
  const shouldRun = untolerated.every(({ effect }) => effect !== 'NoSchedule' && effect !== 'NoExecute');
  return { shouldRun, shouldContinueRunning: untolerated.every(({ effect }) => effect !== 'NoExecute') };
}

const EXISTS = { operator: 'Exists' };

/** Tolerations of all daemon pods, which run on unhealthy nodes too. */
export function daemonTolerations(spec: core.PodSpec): readonly core.Toleration[] {
  const executing = ['not-ready', 'unreachable'].map((name) => ({ key: `node.kubernetes.io/${name}`, ...EXISTS, effect: 'NoExecute' }));
  const names = ['disk-pressure', 'memory-pressure', 'pid-pressure', 'unschedulable', ...(spec.hostNetwork ? ['network-unavailable'] : [])];
  const scheduling = names.map((name) => ({ key: `node.kubernetes.io/${name}`, ...EXISTS, effect: 'NoSchedule' }));
  const own = spec.tolerations ?? [];
  const isNew = (added: core.Toleration) =>
    !own.some(({ key, effect, operator }) => key === added.key && effect === added.effect && operator === added.operator);
  return [...own, ...[...executing, ...scheduling].filter(isNew)];
}

/** The affinity of the pod for one node: the scheduler places it there and nowhere else. */
export function affinityFor(affinity: core.Affinity | undefined, node: string): core.Affinity {
  // The template's own terms were checked when the node was chosen.
  const nodeSelectorTerms = [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] }];
  const nodeAffinity = { ...affinity?.nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } };
  return { ...affinity, nodeAffinity };
}
