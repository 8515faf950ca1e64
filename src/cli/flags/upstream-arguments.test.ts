import { expect, test } from 'vitest';
import { upstreamArguments } from './upstream-arguments.ts';

test.each([
  [
    ['--secure_port=6443', '--etcd_servers', 'http://a_b'],
    ['--secure-port=6443', '--etcd-servers', 'http://a_b'],
  ],
  [['--cert-file=/a_b/c'], ['--cert-file=/a_b/c']],
  [
    ['-v', '4', '-v=2', '-v6'],
    ['--v=4', '--v=2', '--v=6'],
  ],
  [
    ['-v', '--leader-elect'],
    ['-v', '--leader-elect'],
  ],
  [
    ['--', '-v', '4', '--a_b'],
    ['--', '-v', '4', '--a_b'],
  ],
])('flags of upstream %j are %j', (words, rewritten) => {
  expect(upstreamArguments(words)).toEqual(rewritten);
});
