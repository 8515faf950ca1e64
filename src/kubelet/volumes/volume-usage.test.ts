import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { remoteUsage } from './volume-usage.ts';

test('the usage of a network mount is that of its file system', async () => {
  const { bsize, blocks, files } = await statfs(tmpdir());
  const usage = await remoteUsage(tmpdir());
  expect([usage.capacityBytes, usage.inodes]).toEqual([bsize * blocks, files]);
  expect(usage.usedBytes).toBeLessThan(usage.capacityBytes);
});
