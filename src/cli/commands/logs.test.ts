import { expect, test } from 'vitest';
import { linesFrom } from './logs.ts';

const LOG = `2026-01-02T12:00:00.000Z INFO  scheduler: bound pod=a
2026-01-02T12:00:00.001Z WARN  kubelet: cannot start pod error="no image"
Error: no image
    at start (x.ts:1:1)
2026-01-02T12:00:00.002Z INFO  certificates were renewed
2026-01-02T12:00:00.003Z ERROR scheduler: failed what="the kubelet: gone"
`;

test('sampan logs shows all lines, or those of one component with their stacks', () => {
  expect(linesFrom(LOG, undefined)).toHaveLength(6);
  expect(linesFrom(LOG, 'scheduler')).toEqual([
    '2026-01-02T12:00:00.000Z INFO  scheduler: bound pod=a',
    '2026-01-02T12:00:00.003Z ERROR scheduler: failed what="the kubelet: gone"',
  ]);
  expect(linesFrom(LOG, 'kubelet')).toEqual([
    '2026-01-02T12:00:00.001Z WARN  kubelet: cannot start pod error="no image"',
    'Error: no image',
    '    at start (x.ts:1:1)',
  ]);
  expect(linesFrom(LOG, 'apiserver')).toEqual([]);
});
