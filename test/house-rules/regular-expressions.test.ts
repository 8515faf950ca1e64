import { describe, expect, test } from 'vitest';
import { regexLiterals } from './mask.ts';
import { readSourceTree, type SourceFile } from './source-tree.ts';
import { superLinearProblem } from './super-linear.ts';

/** Marks an exception, on the line of the expression or the one before it. */
const BOUND = 'bounded:';

function faultsOf({ path, text, code }: SourceFile): string[] {
  const literals = regexLiterals(text).flatMap(({ source, flags, offset }) => {
    const problem = superLinearProblem(source, flags);
    return problem === undefined || isBounded(text, offset) ? [] : [`${path}:${lineOf(text, offset)}: /${source}/${flags} ${problem}`];
  });
  const built = [...code.matchAll(/\bRegExp\(/g)].flatMap(({ index }) =>
    isBounded(text, index) ? [] : [`${path}:${lineOf(text, index)}: an expression that is put together cannot be checked`],
  );
  return [...literals, ...built];
}

function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

function isBounded(text: string, offset: number): boolean {
  const line = lineOf(text, offset);
  return text
    .split('\n')
    .slice(Math.max(0, line - 3), line)
    .some((one) => one.includes(`// ${BOUND}`));
}

test('every regular expression takes linear time, or states what bounds its input', () => {
  const files = readSourceTree().filter((file) => !file.isTest);
  expect(files.flatMap(faultsOf)).toEqual([]);
});

describe('the checker', () => {
  test.each([
    [/\/+$/],
    [/(a+)+$/],
    [/^(a+)+$/],
    [/^(a|a)*$/],
    [/^a*a*b/],
    [/^(?:x+,?)+$/],
    [/\s+$/],
    [/\s*,/],
    [/-----BEGIN ([^-\n]*)-----\r?\n([\s\S]*?)-----END/g],
    [/\$\(([^)]*)\)/g],
    [/([^/:@]+)(?::[^/]*|@.*)?$/],
    [/(\d+)\s*([A-Za-z]+)/g],
    [/0+$/],
    [/^.*?,.*?;/],
    [/^\d+\d+x/],
    [/(?=\d*x)/g],
    [/^(?:a(a*)x|a)*/],
    [/\beyJ[A-Za-z0-9_-]+\.eyJ/g],
    [/^\w*[a-z]{0,300}x/],
  ])('finds %s', (expression) => {
    expect(superLinearProblem(expression.source, expression.flags)).toBeDefined();
  });

  test.each([
    [/\s+/g],
    [/^\s+/],
    [/(ab)+/],
    [/^[a-z]+[0-9]+$/],
    [/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/],
    [/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/],
    [/[.*+?^${}()|[\]\\]/g],
    [/^\d{4}-\d{2}-\d{2}$/],
    [/[^0-9]+/g],
    [/^(-?)(\d+)(?:\.(\d+))?$/],
    [/\d+/y],
    [/^[^:]*:[^:]*:/],
    [/^(?:[0-9a-f]{2}([:-])(?:[0-9a-f]{2}\1){4}[0-9a-f]{2})$/i],
    [/a?b?c/],
    [/^([^=]*)=(.*)$/],
  ])('accepts %s', (expression) => {
    expect(superLinearProblem(expression.source, expression.flags)).toBeUndefined();
  });
});
