import { type CallEstimate, type Estimate, fixedEstimate, product, regexMatch, sum, traversal, UNKNOWN } from './estimate.ts';
import type { EstimatedCall, EstimatedNode } from './library-estimate.ts';

function size(node: EstimatedNode | undefined): Estimate {
  return node?.computedSize ?? UNKNOWN;
}

/** The cost of the language's own functions, without that of the arguments. */
export function standardEstimate(call: EstimatedCall): CallEstimate {
  const { overloadId, target, args } = call;
  const [first, second] = args;
  switch (overloadId) {
    case 'string_format':
      return { cost: traversal(size(target)) };
    case 'string_to_bytes':
      return { cost: traversal(size(first)), resultSize: { min: size(first).min, max: size(first).max * 4 } };
    case 'bytes_to_string':
      return { cost: traversal(size(first)), resultSize: { min: Math.floor(size(first).min / 4), max: size(first).max } };
    case 'strings_quote':
      return { cost: traversal(size(first)), resultSize: { min: size(first).min + 2, max: size(first).max * 2 + 2 } };
    case 'starts_with_string':
    case 'ends_with_string':
      return { cost: traversal(size(first)) };
    case 'in_list':
      return { cost: size(second) };
    case 'matches_string':
      return { cost: regexMatch(size(target), size(first)) };
    case 'contains_string':
      return { cost: product(traversal(size(target)), traversal(size(first))) };
    case 'add_string':
    case 'add_bytes':
    case 'add_list':
      return additionEstimate(overloadId, size(first), size(second));
    case 'equals':
    case 'not_equals':
      return { cost: comparisonCost(size(first), size(second)) };
    default:
      return { cost: isTextOrdering(overloadId) ? comparisonCost(size(first), size(second)) : fixedEstimate(1) };
  }
}

function additionEstimate(overloadId: string, left: Estimate, right: Estimate): CallEstimate {
  const resultSize = sum(left, right);
  // Joining lists costs the same for all sizes.
  return { cost: overloadId === 'add_list' ? fixedEstimate(1) : traversal(resultSize), resultSize };
}

function isTextOrdering(overloadId: string): boolean {
  return /^(?:less|less_equals|greater|greater_equals)_(?:string|bytes)$/.test(overloadId);
}

/** Comparing takes as long as the shorter one, and at least one unit if neither is empty. */
function comparisonCost(left: Estimate, right: Estimate): Estimate {
  const max = Math.min(left.max, right.max);
  return traversal({ min: max > 0 ? 1 : 0, max });
}
