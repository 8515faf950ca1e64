import { expect, test } from 'vitest';
import { linesFrom } from './logs.ts';

const LOG = `12:00:00.000 INFO  scheduler: bound pod=a
12:00:00.001 WARN  kubelet: cannot start pod error="no image"
Error: no image
    at start (x.ts:1:1)
12:00:00.002 INFO  certificates were renewed
12:00:00.003 ERROR scheduler: failed what="the kubelet: gone"
`;

test('all lines are shown, or those of one component with their stacks', () => {
  expect(linesFrom(LOG, undefined)).toHaveLength(6);
  expect(linesFrom(LOG, 'scheduler')).toEqual([
    '12:00:00.000 INFO  scheduler: bound pod=a',
    '12:00:00.003 ERROR scheduler: failed what="the kubelet: gone"',
  ]);
  expect(linesFrom(LOG, 'kubelet')).toEqual([
    '12:00:00.001 WARN  kubelet: cannot start pod error="no image"',
    'Error: no image',
    '    at start (x.ts:1:1)',
  ]);
  expect(linesFrom(LOG, 'apiserver')).toEqual([]);
});
