import type { SourceFile } from './source-tree.ts';

const LIST_METHODS = /(?:\.(?:push|unshift|splice|concat|fromCharCode|fromCodePoint)|\bMath\.\w+|\bObject\.assign)$/;
const BOUND = /\/\/ bounded: spread /;
const OPENING = new Map([
  [')', '('],
  [']', '['],
  ['}', '{'],
]);

/**
 * A call with a list spread over its arguments throws a RangeError when the list exceeds the stack. Built-in functions of that kind have
 * replacements; for other functions, a comment in the file says why the lists are short.
 */
export function spreadCallFaults({ path, code, text, isTest }: SourceFile): string[] {
  if (isTest) return [];
  const isBounded = BOUND.test(text);
  return spreadCalls(code)
    .filter(({ callee }) => LIST_METHODS.test(callee) || !isBounded)
    .map(({ callee, offset }) => {
      const advice = LIST_METHODS.test(callee)
        ? 'pushAll, maxOf, minOf or mergeAll of #base'
        : 'a list, or "// bounded: spread …" with the reason';
      return `${path}:${code.slice(0, offset).split('\n').length}: ${callee}(...) spreads a list over arguments: use ${advice}`;
    });
}

interface SpreadCall {
  readonly callee: string;
  readonly offset: number;
}

function spreadCalls(code: string): SpreadCall[] {
  const calls: SpreadCall[] = [];
  for (let at = code.indexOf('...'); at !== -1; at = code.indexOf('...', at + 3)) {
    const open = enclosing(code, at);
    const callee = /[\w$.#!?\])]+$/.exec(code.slice(Math.max(0, open - 80), open))?.[0] ?? '';
    if (open === -1 || callee === '' || isParameter(code, at, open)) continue;
    calls.push({ callee, offset: at });
  }
  return calls;
}

/** The position of the innermost parenthesis around an offset; -1 if a bracket or brace is closer. */
function enclosing(code: string, at: number): number {
  const closed: string[] = [];
  for (let i = at - 1; i >= 0; i--) {
    const char = code[i] as string;
    if (OPENING.has(char)) closed.push(OPENING.get(char)!);
    else if (char === '(' || char === '[' || char === '{') {
      if (closed.length === 0) return char === '(' ? i : -1;
      closed.pop();
    }
  }
  return -1;
}

/** Whether it is the rest parameter of a function declared here. */
function isParameter(code: string, at: number, open: number): boolean {
  return (
    /^\.\.\.[\w$]+\s*:/.test(code.slice(at, at + 80)) ||
    /^\.\.\.[\w$]+\)\s*(=>|:\s*\w)/.test(code.slice(at, at + 80)) ||
    /\b(?:if|for|while|switch)\s*$/.test(code.slice(0, open).slice(-10))
  );
}
