import type { Expr } from '../syntax/ast.ts';
import { type CelType, isSameType } from '../types.ts';
import {
  AUTHORIZATION_COST,
  LIST_COST,
  MAX_FORMAT_SIZE,
  MAX_NAME_REGEX_SIZE,
  NOMINAL_FUNCTIONS,
  REGEX_FACTOR,
  STRING_FACTOR,
  selectorCost,
  TRAVERSING_FUNCTIONS,
} from './cost-model.ts';
import {
  type CallEstimate,
  type Estimate,
  fixedEstimate,
  MAX_ESTIMATE,
  product,
  regexMatch,
  scaled,
  sum,
  traversal,
  union,
} from './estimate.ts';

/** An argument as estimates see it. */
export interface EstimatedNode {
  readonly expr: Expr;
  readonly type: CelType;
  /** The best bounds there are for its size. */
  readonly size: Estimate;
  /** The bounds given by the expression itself, if any. */
  readonly computedSize: Estimate | undefined;
  /** The type and size of its elements, if it is a list. */
  readonly element: { readonly type: CelType; readonly size: Estimate } | undefined;
}

export interface EstimatedCall {
  readonly name: string;
  readonly overloadId: string;
  readonly target: EstimatedNode | undefined;
  readonly args: readonly EstimatedNode[];
}

/** The estimate for a function of a library; undefined for what the language itself defines. */
export function libraryEstimate(call: EstimatedCall): CallEstimate | undefined {
  return extensionEstimate(call) ?? kubernetesEstimate(call);
}

function literalInt(node: EstimatedNode | undefined, otherwise: number): number {
  if (node?.expr.kind !== 'literal') return otherwise;
  const { value } = node.expr;
  return typeof value === 'number' || typeof value === 'bigint' ? Math.max(Number(value), 0) : otherwise;
}

/** Functions of the lists and sets extensions, by overload. */
function extensionEstimate({ overloadId, target, args }: EstimatedCall): CallEstimate | undefined {
  const [first, second] = args;
  switch (overloadId) {
    case 'list_sets_contains_list':
    case 'list_sets_intersects_list':
      return first && second && { cost: sum(product(first.size, second.size), fixedEstimate(1)) };
    case 'list_sets_equivalent_list':
      return first && second && { cost: sum(scaled(product(first.size, second.size), 2), fixedEstimate(1)) };
    case 'list_slice':
      return target && allocating(1, fixedEstimate(Math.max(literalInt(second, target.size.max) - literalInt(first, 0), 0)));
    case 'list_flatten':
      return target && allocating(1, target.size);
    case 'list_flatten_int':
      return target && allocating(literalInt(first, MAX_ESTIMATE), target.size);
    case 'lists_range':
      return allocating(1, fixedEstimate(literalInt(first, MAX_ESTIMATE)));
    case 'list_reverse':
      return target && allocating(1, target.size);
    case 'list_distinct':
      return target && allocating(2, product(target.size, target.size));
    default:
      return sortEstimate(overloadId, target, first);
  }
}

function sortEstimate(overloadId: string, target: EstimatedNode | undefined, keys: EstimatedNode | undefined): CallEstimate | undefined {
  const match = /^list_(.+)_(sort|sortByAssociatedKeys)$/.exec(overloadId);
  const node = match?.[2] === 'sort' ? target : keys;
  if (match === null || node === undefined) return undefined;
  const factor = match[1] === 'string' || match[1] === 'bytes' ? 2 + STRING_FACTOR : 2;
  return allocating(factor, product(node.size, node.size));
}

function allocating(factor: number, size: Estimate): CallEstimate {
  return { cost: sum(scaled(size, factor), fixedEstimate(1 + LIST_COST)), resultSize: size };
}

/** Functions that Kubernetes adds or counts in its own way, by name. */
function kubernetesEstimate(call: EstimatedCall): CallEstimate | undefined {
  const { name, target, args } = call;
  const [first] = args;
  if (NOMINAL_FUNCTIONS.has(name)) return { cost: fixedEstimate(1) };
  if (TRAVERSING_FUNCTIONS.has(name)) return target && listWalk(target);
  switch (name) {
    case 'check':
      return { cost: fixedEstimate(AUTHORIZATION_COST) };
    case 'fieldSelector':
    case 'labelSelector':
      return first && { cost: { min: selectorCost(first.size.min), max: Math.min(selectorCost(first.size.max), MAX_ESTIMATE) } };
    case 'url':
    case 'jsonpatch.escapeKey':
      return first && { cost: traversal(first.size), resultSize: first.size };
    case 'lowerAscii':
    case 'upperAscii':
    case 'substring':
    case 'trim':
      return target && { cost: traversal(target.size), resultSize: target.size };
    case 'replace':
      return replaceEstimate(call);
    case 'split':
      return target && splitEstimate(target, args[1]);
    case 'join':
      return target && joinEstimate(target, first);
    case 'find':
    case 'findAll':
      return target && first && { cost: regexMatch(target.size, first.size), resultSize: { min: 0, max: target.size.max } };
    default:
      return parsingEstimate(call);
  }
}

/** One for each element, and the walk of elements that are text. */
function listWalk(target: EstimatedNode): CallEstimate {
  if (target.element === undefined) return { cost: traversal(target.size) };
  const isText = target.element.type.kind === 'string' || target.element.type.kind === 'bytes';
  const perElement = isText ? sum(fixedEstimate(1), traversal(target.element.size)) : fixedEstimate(1);
  return { cost: product(target.size, perElement) };
}

/** The result is longest if the least is replaced by the most, as often as that fits. */
function replaceEstimate({ target, args }: EstimatedCall): CallEstimate | undefined {
  const [from, to] = args;
  if (target === undefined || from === undefined || to === undefined) return undefined;
  const size = target.size;
  const longest = replacedSize(size.max, { from: from.size.min, to: to.size.max, keeps: to.size.max <= from.size.min });
  const shortest = replacedSize(size.min, { from: from.size.max, to: to.size.min, keeps: from.size.max <= to.size.min });
  return { cost: scaled(size, 2 * STRING_FACTOR), resultSize: { min: shortest, max: longest } };
}

function replacedSize(size: number, replacement: { readonly from: number; readonly to: number; readonly keeps: boolean }): number {
  const { from, to, keeps } = replacement;
  if (from === 0) return Math.min(Math.min(size + 1, MAX_ESTIMATE) * to + size, MAX_ESTIMATE);
  return keeps ? size : Math.min(Math.ceil(size / from) * to, MAX_ESTIMATE);
}

function splitEstimate(target: EstimatedNode, limit: EstimatedNode | undefined): CallEstimate {
  const max = literalInt(limit, target.size.max);
  return { cost: scaled(target.size, 2 * STRING_FACTOR), resultSize: { min: 0, max } };
}

function joinEstimate(target: EstimatedNode, separator: EstimatedNode | undefined): CallEstimate {
  const list = target.size;
  const elements = target.element === undefined ? fixedEstimate(0) : product(list, target.element.size);
  const count = { min: Math.max(list.min - 1, 0), max: Math.max(list.max - 1, 0) };
  const size = separator === undefined ? elements : sum(elements, product(separator.size, count));
  return { cost: traversal(size), resultSize: size };
}

// An address has 4 or 16 bytes.
const ADDRESS: Estimate = { min: 4, max: 16 };

function parsingEstimate(call: EstimatedCall): CallEstimate | undefined {
  const { name, overloadId, args } = call;
  const [first, second] = args;
  switch (name) {
    case 'ip':
      if (overloadId === 'cidr_ip') return { cost: fixedEstimate(1) };
      return first && { cost: traversal(first.size) };
    case 'cidr':
    case 'isIP':
    case 'isCIDR':
    case 'quantity':
    case 'isQuantity':
    case 'semver':
    case 'isSemver':
      return first && { cost: traversal(first.size) };
    case 'ip.isCanonical':
      return first && { cost: scaled(first.size, 2 * STRING_FACTOR) };
    case 'containsIP':
    case 'containsCIDR':
      return first && networkEstimate(call, first);
    case 'validate':
      return first && { cost: scaled(traversal(first.size), MAX_NAME_REGEX_SIZE * REGEX_FACTOR) };
    case '_==_':
      return first && second && equalityEstimate(first, second);
    default:
      return undefined;
  }
}

function networkEstimate({ name, overloadId }: EstimatedCall, other: EstimatedNode): CallEstimate {
  const compared = traversal(sum(ADDRESS, ADDRESS));
  const masked = name === 'containsCIDR' ? sum(traversal(ADDRESS), fixedEstimate(1)) : fixedEstimate(0);
  const isText = overloadId === 'cidr_contains_ip_string' || overloadId === 'cidr_contains_cidr_string';
  return { cost: sum(compared, masked, isText ? traversal(other.size) : fixedEstimate(0)) };
}

const UNIT_EQUALITY: ReadonlySet<string> = new Set([
  'net.IP',
  'net.CIDR',
  'kubernetes.Quantity',
  'kubernetes.Semver',
  'kubernetes.authorization.Authorizer',
  'kubernetes.authorization.PathCheck',
  'kubernetes.authorization.GroupCheck',
  'kubernetes.authorization.ResourceCheck',
  'kubernetes.authorization.Decision',
]);

function equalityEstimate(left: EstimatedNode, right: EstimatedNode): CallEstimate | undefined {
  if (!isSameType(left.type, right.type)) return undefined;
  const { name } = left.type;
  if (UNIT_EQUALITY.has(name)) return { cost: fixedEstimate(1) };
  if (name === 'kubernetes.NamedFormat') return { cost: traversal({ min: 1, max: MAX_FORMAT_SIZE }) };
  if (name !== 'kubernetes.URL') return undefined;
  const size = right.computedSize === undefined ? fixedEstimate(1) : union(right.computedSize, right.computedSize);
  return { cost: traversal({ min: 1, max: size.max }) };
}
