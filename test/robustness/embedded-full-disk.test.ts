import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bundleProgram } from './child-program.ts';

/** A file system for one command, mounted as root or in a user namespace. */
function smallDisk(): readonly string[] {
  const ways = [
    ['unshare', '--mount'],
    ['unshare', '--user', '--map-root-user', '--mount'],
  ];
  const way = ways.find(([command, ...args]) => spawnSync(command!, [...args, 'true']).status === 0);
  if (way === undefined) throw new Error('this test needs to mount a small file system: run it as root, or allow user namespaces');
  return way;
}

test('a full disk refuses writes by name, keeps reads, loses nothing, and is forgotten when there is room', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'sampan-full-'));
  await using filler = await bundleProgram('filler');
  const mount = `mount -t tmpfs -o size=6m tmpfs ${directory} && head -c 2000000 /dev/zero > ${directory}/padding && exec "$@"`;
  const running = filler.start([join(directory, 'store'), join(directory, 'padding')], [...smallDisk(), 'sh', '-c', mount, 'sh']);
  const { code } = await running.ended;
  expect(code, running.errors.join('')).toBe(0);
  const report = JSON.parse(running.lines.at(-1)!) as Record<string, unknown>;
  expect(report).toMatchObject({ codes: ['no-space'], again: true });
  expect(report.acknowledged).toBeGreaterThan(50);
  expect({ readable: report.readable, afterwards: report.afterwards }).toEqual({
    readable: report.acknowledged,
    afterwards: report.acknowledged,
  });
  await rm(directory, { recursive: true });
});
