/**
 * Writes `{ ...a, b }` as `{ ...undefined, ...a, b }`, which means the same. V8 (Node 20) copies the first spread of a literal
 * together with its hidden class; a property added to the copy then makes a hidden class for that one object: ten times slower, 300 bytes more, and every
 * reader of such objects slower too. Copied into an empty object, objects with the same properties share one. Why, with figures: docs/adr/0009.
 * A literal that is spread where it is written (`...{ a, b }`) is written without its braces.
 * Works on formatted source; test/house-rules/shared-shapes.test.ts makes sure that it meets literals only.
 */
export function shareShapes(source) {
  return source.replace(SPREAD_LITERAL, '$1').replace(LEADING_SPREAD, '{$1...undefined, ...');
}

/** One line without braces inside. */
export const SPREAD_LITERAL = /\.\.\.\{ ([^{}\n]*) \}/g;
export const LEADING_SPREAD = /\{(\s+)\.\.\.(?=[\w({])/g;
