import { transformSync } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { SERVER_MINIFICATION } from '../../scripts/build.mjs';
import { LEADING_SPREAD, SPREAD_LITERAL, shareShapes } from '../../scripts/shared-shapes.mjs';
import { readSourceTree, type SourceFile } from './source-tree.ts';

/** Text that the build would rewrite by mistake: in comments, strings or patterns. */
function faults({ path, text, code, isTest }: SourceFile): string[] {
  if (isTest) return [];
  const inText = [LEADING_SPREAD, SPREAD_LITERAL].flatMap((spread) =>
    [...text.matchAll(spread)].filter(({ index, 0: match }) => code[index] !== match[0]),
  );
  const patterns = [...code.matchAll(/\{\s+\.\.\.\w+\s+\}\s*(?:=[^=>]|\)\s*(?::[^;]*)?=>)/g)];
  return [...inText, ...patterns].map(({ index, 0: match }) => `${path}: offset ${index}: ${match}`);
}

test('the build adds an empty start to object literals only', () => {
  expect(readSourceTree().flatMap(faults)).toEqual([]);
});

describe('an object literal that begins with a spread', () => {
  test.each([
    ['const a = { ...b, c: 1 };', 'const a = { ...undefined, ...b, c: 1 };'],
    ['f({\n  ...(x && { y }),\n});', 'f({\n  ...undefined, ...(x && { y }),\n});'],
    ['const { a, ...rest } = b;', 'const { a, ...rest } = b;'],
    ['[...a]', '[...a]'],
    ['const a = { ...{ b, c: 1 }, d };', 'const a = { b, c: 1, d };'],
    ['const a = { ...{ b: {} }, d };', 'const a = { ...undefined, ...{ b: {} }, d };'],
    ['f({\n  ...{ ...b, c },\n});', 'f({\n  ...undefined, ...b, c,\n});'],
  ])('%s becomes %s', (source, expected) => {
    expect(shareShapes(source)).toBe(expected);
  });

  test('keeps its empty start in the server', () => {
    const { code } = transformSync(shareShapes('export const f = (a) => ({ ...a, b: 1 });'), SERVER_MINIFICATION);
    expect(code).toMatch(/\{ ?\.\.\.(?:undefined|void 0), ?\.\.\.a/);
  });

  test('means the same as before', () => {
    const run = (text: string) => new Function('a', `return (${text});`)(JSON.parse('{"x":1,"__proto__":{"y":2}}'));
    const literal = '{ ...a, x: 2, ...(a.x === 1 && { z: 3 }), ...{ x: 4, y: a.y } }';
    expect(JSON.stringify(run(shareShapes(literal)))).toBe(JSON.stringify(run(literal)));
  });
});
