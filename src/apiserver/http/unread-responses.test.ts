import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { silentLogger } from '#base';
import { UnreadResponses } from './unread-responses.ts';

const KIB = 1024;

test.each([
  ['strings, which are copies', () => 'x'.repeat(64 * KIB), true],
  [
    'one buffer',
    (
      (shared) => () =>
        shared
    )(Buffer.alloc(64 * KIB)),
    false,
  ],
])('a body that three clients wait for counts as often as it is held: %s', (_what, body, isOverLimit) => {
  const unread = new UnreadResponses(silentLogger, 160 * KIB);
  const sockets = [new PassThrough(), new PassThrough(), new PassThrough()];
  const releases = sockets.map((socket) => unread.hold(socket, body()));
  expect(sockets.some(({ destroyed }) => destroyed)).toBe(isOverLimit);
  for (const release of releases) release?.();
  expect(unread.hold(new PassThrough(), Buffer.alloc(150 * KIB))).toBeDefined();
  for (const socket of sockets) socket.destroy();
});
