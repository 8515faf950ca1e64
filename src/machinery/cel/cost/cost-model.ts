// Upstream's costs; a unit is about 50 ns of its time.
export const SELECT_COST = 1;
export const LIST_COST = 10;
export const MAP_COST = 30;
export const STRUCT_COST = 40;
export const STRING_FACTOR = 0.1;
export const REGEX_FACTOR = 0.25;
/** Allows two authorization checks per expression. */
export const AUTHORIZATION_COST = 350_000;
/** The longest name of a format. */
export const MAX_FORMAT_SIZE = 64;
export const MAX_NAME_REGEX_SIZE = 128;

const SELECTOR_REQUIREMENTS_PER_CHARACTER = 0.5;
const COST_PER_REQUIREMENT = LIST_COST + STRUCT_COST;

/** Functions that only build or read a small object. */
export const NOMINAL_FUNCTIONS: ReadonlySet<string> = new Set(
  (
    'serviceAccount path group resource subresource namespace name allowed reason error errored ' +
    'masked prefixLength family isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast ' +
    'format.named sign asInteger isInteger asApproximateFloat isGreaterThan isLessThan compareTo add sub major minor patch ' +
    'getScheme getHostname getHost getPort getEscapedPath getQuery'
  ).split(' '),
);

/** Functions that walk a list once. */
export const TRAVERSING_FUNCTIONS: ReadonlySet<string> = new Set(['isSorted', 'sum', 'max', 'min', 'indexOf', 'lastIndexOf']);

/** The cost of parsing a label or field selector of that length. */
export function selectorCost(length: number): number {
  const requirements = Math.ceil(length * SELECTOR_REQUIREMENTS_PER_CHARACTER);
  return LIST_COST + Math.ceil(length * STRING_FACTOR) + Math.ceil(requirements * COST_PER_REQUIREMENT);
}
