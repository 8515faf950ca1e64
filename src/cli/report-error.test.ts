import { expect, test } from 'vitest';
import { reportError } from './report-error.ts';

function printed(error: Error): string {
  const lines: string[] = [];
  const context = { color: { stderr: false }, note: (line: string) => void lines.push(line) };
  reportError(error, { context: context as never, verbose: false, command: undefined });
  return lines.join('\n');
}

test('an error is printed with its causes, without those that its message quotes', () => {
  const refused = new Error('connect ECONNREFUSED');
  const dial = new Error('dial tcp: connection refused', { cause: refused });
  const post = new Error('Post "https://hook": dial tcp: connection refused', { cause: dial });
  expect(printed(new Error('no webhook: Post "https://hook": dial tcp: connection refused', { cause: post }))).toBe(
    'error: no webhook: Post "https://hook": dial tcp: connection refused: connect ECONNREFUSED',
  );
});
