import type { Path } from '#machinery';
import type { LabelSelector } from '../../../meta/v1/label-selector.ts';
import type { NodeSelectorTerm } from '../node-selector/node-selector-term.ts';

const DEPRECATED_LABELS: ReadonlyMap<string, string> = new Map([
  ['beta.kubernetes.io/arch', 'deprecated since v1.14; use "kubernetes.io/arch" instead'],
  ['beta.kubernetes.io/os', 'deprecated since v1.14; use "kubernetes.io/os" instead'],
  ['failure-domain.beta.kubernetes.io/region', 'deprecated since v1.17; use "topology.kubernetes.io/region" instead'],
  ['failure-domain.beta.kubernetes.io/zone', 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'],
  ['beta.kubernetes.io/instance-type', 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead'],
  ['app.kubernetes.io/created-by', 'deprecated since v1.9'],
  ['scheduler.alpha.kubernetes.io/preferAvoidPods', 'deprecated since v1.22; use Taints and Tolerations instead'],
  ['node-role.kubernetes.io/master', 'use "node-role.kubernetes.io/control-plane" instead'],
]);

/** The warning for a deprecated node label; undefined for others. */
export function deprecatedNodeLabel(key: string): string | undefined {
  return DEPRECATED_LABELS.get(key);
}

export function nodeSelectorTermWarnings({ matchExpressions = [] }: NodeSelectorTerm, path: Path): string[] {
  return expressionWarnings(matchExpressions, path);
}

/** As for a node's selector, for kinds that select nodes with a label selector. */
export function nodeLabelSelectorWarnings(selector: LabelSelector | undefined, path: Path): string[] {
  const labels = Object.keys(selector?.matchLabels ?? {}).flatMap((key) => {
    const message = deprecatedNodeLabel(key);
    return message === undefined ? [] : [`${path.child('matchLabels', key)}: ${message}`];
  });
  return [...expressionWarnings(selector?.matchExpressions ?? [], path), ...labels];
}

function expressionWarnings(expressions: readonly { readonly key: string }[], path: Path): string[] {
  return expressions.flatMap(({ key }, i) => {
    const message = deprecatedNodeLabel(key);
    return message === undefined ? [] : [`${path.child('matchExpressions').index(i).child('key')}: ${key} is ${message}`];
  });
}
