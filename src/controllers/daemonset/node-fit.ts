import type { core } from '#api';
import { type LabelOperator, type LabelRequirement, Selector } from '#machinery';
import { tolerates } from '../runtime/tolerations.ts';

export interface NodeFit {
  /** A new pod may be placed there. */
  readonly shouldRun: boolean;
  /** One that is there may stay. */
  readonly mayStay: boolean;
}

const NOWHERE: NodeFit = { shouldRun: false, mayStay: false };

export function fitOf(spec: core.PodSpec, node: core.Node, tolerations: readonly core.Toleration[]): NodeFit {
  if (spec.nodeName && spec.nodeName !== node.metadata.name) return NOWHERE;
  if (!Selector.fromLabels(spec.nodeSelector).matches(node.metadata.labels) || !matchesAffinity(spec, node)) return NOWHERE;
  const isTolerated = (taint: core.Taint) => tolerations.some((toleration) => tolerates(toleration, taint));
  const untolerated = (node.spec?.taints ?? []).filter((taint) => !isTolerated(taint));
  const shouldRun = untolerated.every(({ effect }) => effect !== 'NoSchedule' && effect !== 'NoExecute');
  return { shouldRun, mayStay: untolerated.every(({ effect }) => effect !== 'NoExecute') };
}

function matchesAffinity({ affinity }: core.PodSpec, node: core.Node): boolean {
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return required === undefined || (required.nodeSelectorTerms ?? []).some((term) => matchesTerm(term, node));
}

function matchesTerm({ matchExpressions = [], matchFields = [] }: core.NodeSelectorTerm, { metadata }: core.Node): boolean {
  // A term without demands selects nothing.
  if (matchExpressions.length + matchFields.length === 0) return false;
  const isFieldMatched = ({ operator, values = [] }: core.NodeSelectorRequirement) =>
    operator === 'In' ? values.includes(metadata.name) : !values.includes(metadata.name);
  return Selector.of(matchExpressions.map(requirement)).matches(metadata.labels) && matchFields.every(isFieldMatched);
}

const OPERATORS: Readonly<Record<string, LabelOperator>> = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
  Gt: 'gt',
  Lt: 'lt',
};

function requirement({ key, operator, values = [] }: core.NodeSelectorRequirement): LabelRequirement {
  return { key, operator: OPERATORS[operator] ?? 'in', values };
}

const EXISTS = { operator: 'Exists' };

/** What every daemon tolerates: it is to run on nodes in trouble, too. */
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
  // The set has looked at the terms of the template already.
  const nodeSelectorTerms = [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] }];
  const nodeAffinity = { ...affinity?.nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } };
  return { ...affinity, nodeAffinity };
}
