import type { Labels } from '#machinery';
import type { Pod } from '../pod/pod.ts';
import type { NodeSelector } from './node-selector.ts';
import type { NodeSelectorRequirement, NodeSelectorTerm } from './node-selector-term.ts';

export interface SelectableNode {
  readonly name: string;
  readonly labels: Labels;
}

type NodePredicate = (node: SelectableNode) => boolean;

/** Terms on a node's labels and name, one of which must match. */
export interface NodeMatcher {
  matches(node: SelectableNode): boolean;
}

/** A term without requirements matches no node, as upstream. */
export function compileNodeSelector(selector: NodeSelector | undefined | null): NodeMatcher | undefined {
  if (selector == null) return undefined;
  const terms = (selector.nodeSelectorTerms ?? []).map(compileNodeSelectorTerm);
  return { matches: (node) => terms.some((matches) => matches(node)) };
}

export function compileNodeSelectorTerm(term: NodeSelectorTerm): NodePredicate {
  const conditions = [
    ...(term.matchExpressions ?? []).map((requirement) => compileRequirement(requirement, ({ labels }) => labels[requirement.key])),
    ...(term.matchFields ?? []).map((requirement) =>
      compileRequirement(requirement, ({ name }) => (requirement.key === 'metadata.name' ? name : undefined)),
    ),
  ];
  if (conditions.length === 0) return () => false;
  return (node) => conditions.every((holds) => holds(node));
}

function compileRequirement(requirement: NodeSelectorRequirement, read: (node: SelectableNode) => string | undefined): NodePredicate {
  const values = new Set(requirement.values ?? []);
  switch (requirement.operator) {
    case 'In':
      return (node) => values.has(read(node) as string);
    case 'NotIn':
      return (node) => !values.has(read(node) as string);
    case 'Exists':
      return (node) => read(node) !== undefined;
    case 'DoesNotExist':
      return (node) => read(node) === undefined;
    case 'Gt':
    case 'Lt':
      return compileComparison(requirement, read);
    default:
      return () => false;
  }
}

const INTEGER = /^[+-]?\d{1,19}$/;

function compileComparison(
  { operator, values }: NodeSelectorRequirement,
  read: (node: SelectableNode) => string | undefined,
): NodePredicate {
  const limit = values?.[0] ?? '';
  if (!INTEGER.test(limit)) return () => false;
  return (node) => {
    const value = read(node);
    if (value === undefined || !INTEGER.test(value)) return false;
    return operator === 'Gt' ? BigInt(value) > BigInt(limit) : BigInt(value) < BigInt(limit);
  };
}

/** A pod's `nodeSelector` and required node affinity; undefined if it has neither. */
export function requiredNodeAffinity(pod: Pick<Pod, 'spec'>): NodeMatcher | undefined {
  const labels = Object.entries((pod.spec?.nodeSelector ?? {}) as Labels);
  const required = compileNodeSelector(pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution);
  if (labels.length === 0) return required;
  const hasLabels = (node: SelectableNode) => labels.every(([key, value]) => node.labels[key] === value);
  return { matches: (node) => hasLabels(node) && (required === undefined || required.matches(node)) };
}
