import { NamedFormat } from '../library/format.ts';
import { CelList, CelMap } from '../values/containers.ts';
import { costSize, typeOf } from '../values/inspect.ts';
import { CelObject, type CelValue } from '../values/value.ts';
import {
  AUTHORIZATION_COST,
  LIST_COST,
  NOMINAL_FUNCTIONS,
  REGEX_FACTOR,
  STRING_FACTOR,
  selectorCost,
  TRAVERSING_FUNCTIONS,
} from './cost-model.ts';

/**
 * The cost of a call: constant, or computed from arguments and result. What needs the arguments only (a function of one parameter) is compared with
 * the limit before the call, which may take as long as it costs.
 */
export type CallCost = number | ((args: readonly CelValue[], result: CelValue) => number);

/** The cost of calling an overload (empty where only the values decide which) of a function. */
export function callCost(name: string, overloadId: string): CallCost {
  return trackedCost(overloadId) ?? libraryCost(name, overloadId) ?? standardCost(overloadId);
}

function size(args: readonly CelValue[], index: number): number {
  const value = args[index];
  return value === undefined ? 1 : costSize(value);
}

function traversal(args: readonly CelValue[], index: number, factor = 1): number {
  return Math.ceil(size(args, index) * factor * STRING_FACTOR);
}

function regexCost(textSize: number, regexSize: number): number {
  return Math.ceil((1 + textSize) * STRING_FACTOR) * Math.ceil(regexSize * REGEX_FACTOR);
}

/** Extensions of the language that count by overload. */
function trackedCost(overloadId: string): CallCost | undefined {
  switch (overloadId) {
    case 'list_sets_contains_list':
    case 'list_sets_intersects_list':
      return (args) => 1 + size(args, 0) * size(args, 1);
    case 'list_sets_equivalent_list':
      return (args) => 1 + size(args, 0) * size(args, 1) * 2;
    case 'list_slice':
    case 'lists_range':
    case 'list_reverse':
      return (_, result) => allocatingCost(1, costSize(result));
    case 'list_flatten':
      return (args) => allocatingCost(1, size(args, 0));
    case 'list_flatten_int':
      return (args) => allocatingCost(Number(args[1] ?? 1), size(args, 0));
    case 'list_distinct':
      return (args) => selfComparisonCost(args[0]);
    default:
      break;
  }
  if (/^list_.+_sort$/.test(overloadId)) return (args) => selfComparisonCost(args[0]);
  return /^list_.+_sortByAssociatedKeys$/.test(overloadId) ? (args) => selfComparisonCost(args[1]) : undefined;
}

function allocatingCost(factor: number, elements: number): number {
  return Math.floor(elements * factor) + 1 + LIST_COST;
}

function selfComparisonCost(list: CelValue | undefined): number {
  if (!(list instanceof CelList) || list.size === 0) return allocatingCost(2, 0);
  const first = typeOf(list.get(0)).kind;
  return allocatingCost(first === 'string' || first === 'bytes' ? 2 + STRING_FACTOR : 2, list.size * list.size);
}

/** The functions Kubernetes adds, by name. */
function libraryCost(name: string, overloadId: string): CallCost | undefined {
  if (NOMINAL_FUNCTIONS.has(name)) return 1;
  if (TRAVERSING_FUNCTIONS.has(name)) return (args) => (args[0] === undefined ? 0 : traversalCost(args[0]));
  switch (name) {
    case 'check':
      return AUTHORIZATION_COST;
    case 'fieldSelector':
    case 'labelSelector':
      return (args) => selectorCost(size(args, 1));
    case 'url':
    case 'lowerAscii':
    case 'upperAscii':
    case 'substring':
    case 'trim':
    case 'jsonpatch.escapeKey':
    case 'cidr':
    case 'isIP':
    case 'isCIDR':
    case 'quantity':
    case 'isQuantity':
    case 'semver':
    case 'isSemver':
      return (args) => traversal(args, 0);
    case 'ip':
      return overloadId === 'cidr_ip' ? 1 : (args) => traversal(args, 0);
    case 'replace':
    case 'split':
    case 'ip.isCanonical':
      return (args) => traversal(args, 0, 2);
    case 'join':
      return (_, result) => Math.ceil(costSize(result) * 2 * STRING_FACTOR);
    case 'find':
    case 'findAll':
      return (args) => regexCost(size(args, 0), size(args, 1));
    case 'containsIP':
    case 'containsCIDR':
      return networkCost(name, overloadId);
    case 'validate':
      return (args) => (args[0] instanceof NamedFormat ? regexCost(size(args, 1), args[0].maxRegexSize) : 1);
    case '_==_':
      return (args) => (args[0] instanceof CelObject && args[0].hasUnitEquality ? 1 : comparisonCost(args));
    default:
      return undefined;
  }
}

function networkCost(name: string, overloadId: string): CallCost {
  const isText = overloadId === 'cidr_contains_ip_string' || overloadId === 'cidr_contains_cidr_string';
  return (args) => {
    const compared = Math.ceil(size(args, 0) * 2 * STRING_FACTOR);
    const masked = name === 'containsCIDR' ? traversal(args, 0) + 1 : 0;
    return compared + masked + (isText ? traversal(args, 1) : 0);
  };
}

function comparisonCost(args: readonly CelValue[]): number {
  return Math.ceil(Math.min(size(args, 0), size(args, 1)) * STRING_FACTOR);
}

function standardCost(overloadId: string): CallCost {
  switch (overloadId) {
    case 'starts_with_string':
    case 'ends_with_string':
    case 'string_to_bytes':
    case 'bytes_to_string':
    case 'strings_quote':
    case 'string_format':
      return (args) => traversal(args, 0);
    case 'in_list':
      return (args) => size(args, 1);
    case 'equals':
    case 'not_equals':
      return comparisonCost;
    case 'add_string':
    case 'add_bytes':
      return (args) => Math.ceil((size(args, 0) + size(args, 1)) * STRING_FACTOR);
    case 'matches_string':
      return (args) => regexCost(size(args, 0), size(args, 1));
    case 'contains_string':
      return (args) => traversal(args, 0) * traversal(args, 1);
    default:
      return /^(less|less_equals|greater|greater_equals)_(string|bytes)$/.test(overloadId) ? comparisonCost : 1;
  }
}

/** The cost of walking a value as a tree. */
function traversalCost(value: CelValue): number {
  if (typeof value === 'string') return Math.floor(Buffer.byteLength(value) * STRING_FACTOR);
  if (value instanceof Uint8Array) return Math.floor(value.length * STRING_FACTOR);
  if (value instanceof CelList) return value.values().reduce((sum: number, item) => sum + traversalCost(item), 0);
  if (!(value instanceof CelMap)) return 1;
  let cost = 0;
  for (const key of value.keys()) cost += traversalCost(key) + traversalCost(value.find(key) ?? null);
  return cost;
}
