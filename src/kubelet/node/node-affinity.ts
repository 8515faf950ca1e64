import type { core } from '#api';

/** Whether a pod's node selector and required node affinity let it run on the node. */
export function matchesNode({ spec }: core.Pod, node: core.Node): boolean {
  const labels = node.metadata.labels ?? {};
  if (!Object.entries(spec?.nodeSelector ?? {}).every(([key, value]) => labels[key] === value)) return false;
  const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (required === undefined) return true;
  return (required.nodeSelectorTerms ?? []).some((term) => matchesTerm(term, node));
}

/** A term without requirements matches nothing. */
function matchesTerm({ matchExpressions = [], matchFields = [] }: core.NodeSelectorTerm, { metadata }: core.Node): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  const fields: Readonly<Record<string, string>> = { 'metadata.name': metadata.name };
  return (
    matchExpressions.every((requirement) => matchesRequirement(requirement, metadata.labels ?? {})) &&
    matchFields.every((requirement) => matchesRequirement(requirement, fields))
  );
}

function matchesRequirement(
  { key, operator, values = [] }: core.NodeSelectorRequirement,
  labels: Readonly<Record<string, string>>,
): boolean {
  const value = labels[key];
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return isNumber(value) && isNumber(values[0]) && BigInt(value) > BigInt(values[0]);
    case 'Lt':
      return isNumber(value) && isNumber(values[0]) && BigInt(value) < BigInt(values[0]);
    default:
      return false;
  }
}

function isNumber(text: string | undefined): text is string {
  return text !== undefined && /^-?\d+$/.test(text);
}
