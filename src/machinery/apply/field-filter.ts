import { type FieldSet, isEmpty, isMember, LEAF, NodeBuilder, recursiveDifference, setOfPaths } from './field-set.ts';
import { fieldElement } from './path-element.ts';

/** Paths of field names, as `['spec', 'replicas']`; in patterns, `*` stands for any step. */
export type FieldPaths = readonly (readonly string[])[];

export type FieldFilter = (set: FieldSet) => FieldSet;

/** Which fields an endpoint writes: all but those it resets, or only those that match. */
export interface WrittenFields {
  readonly resetFields?: FieldPaths | undefined;
  readonly onlyFields?: FieldPaths | undefined;
}

const KEEP_ALL: FieldFilter = (set) => set;

export function fieldFilter({ resetFields, onlyFields }: WrittenFields): FieldFilter {
  if (onlyFields !== undefined) return (set) => matchingChildren(set, onlyFields, false) ?? LEAF;
  return resetFields === undefined || resetFields.length === 0 ? KEEP_ALL : excluding(resetFields);
}

// Strategies pass the same lists of paths with every request.
const filters = new WeakMap<FieldPaths, FieldFilter>();

function excluding(paths: FieldPaths): FieldFilter {
  let filter = filters.get(paths);
  if (filter === undefined) {
    const reset = setOfPaths(paths.map((path) => path.map(fieldElement)));
    filter = (set) => recursiveDifference(set, reset);
    filters.set(paths, filter);
  }
  return filter;
}

function matchingChildren(node: FieldSet, patterns: FieldPaths, member: boolean): FieldSet | undefined {
  const builder = new NodeBuilder();
  for (const element in node) {
    if (element === '.') continue;
    const matching = patterns.filter(([step]) => step === '*' || (step !== undefined && fieldElement(step) === element));
    if (matching.length === 0) continue;
    const child = node[element] as FieldSet;
    const rest = matching.map((pattern) => pattern.slice(1));
    const isWhole = isEmpty(child) || rest.some((pattern) => pattern.length === 0);
    builder.add(element, isWhole ? child : matchingChildren(child, rest, isMember(child)));
  }
  return builder.build(member);
}

// Server-set fields and the object's identity have no owner.
const SERVER_FIELDS = setOfPaths(
  [
    ['apiVersion'],
    ['kind'],
    ['metadata'],
    ...['name', 'namespace', 'creationTimestamp', 'selfLink', 'uid', 'clusterName', 'generation', 'managedFields', 'resourceVersion'].map(
      (name) => ['metadata', name],
    ),
  ].map((path) => path.map(fieldElement)),
);

export { SERVER_FIELDS };
