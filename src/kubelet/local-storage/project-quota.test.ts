import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { MountPoint } from '../volumes/mount/mount-info.ts';
import type { Mounter } from '../volumes/mount/mounter.ts';
import { hasLimit, limitDirectory, unlimitDirectory } from './project-quota.ts';

let root: string;
let directory: string;
let project: number;
const { PATH = '' } = process.env;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'quota-'));
  directory = join(root, 'disk/v');
  await mkdir(directory, { recursive: true });
  await mkdir(join(root, 'bin'));
  // In place of the tools: most machines have no file system with quotas.
  for (const name of ['chattr', 'setquota', 'lsattr'])
    await writeFile(
      join(root, 'bin', name),
      `#!/bin/sh\necho "${name} $*" >> ${root}/calls\ncat ${root}/attributes 2>/dev/null\nexit 0\n`,
      { mode: 0o755 },
    );
  process.env.PATH = `${join(root, 'bin')}:${PATH}`;
  project = 2 ** 31 + (await stat(directory)).ino;
});
afterEach(async () => {
  process.env.PATH = PATH;
  await rm(root, { recursive: true });
});

const mounterOf = (...mounts: readonly Partial<MountPoint>[]) => ({ mountsBelow: async () => mounts }) as unknown as Mounter;
const calls = async () => (await readFile(join(root, 'calls'), 'utf8')).trim().split('\n');

describe('the quota of a directory', () => {
  it('is that of a project of its own, on the file system that has the directory', async () => {
    const mounter = mounterOf({ path: '/', projectQuota: false }, { path: join(root, 'disk'), projectQuota: true });
    await limitDirectory(directory, 2048, mounter);
    await unlimitDirectory(directory, mounter);
    expect(await calls()).toEqual([
      `chattr -p ${project} +P ${directory}`,
      `setquota -P ${project} 0 2 0 0 ${root}/disk`,
      `setquota -P ${project} 0 0 0 0 ${root}/disk`,
    ]);
  });

  it('is refused where the mount on top has none', async () => {
    const mounter = mounterOf({ path: '/', projectQuota: true }, { path: join(root, 'disk'), projectQuota: false, fsType: 'tmpfs' });
    await expect(limitDirectory(directory, 2048, mounter)).rejects.toThrow(`and ${root}/disk (tmpfs) is mounted without them`);
  });

  it.each([
    ['its own project', 0, true],
    ['another one', 1, false],
  ])('is known by the attributes of the directory: %s', async (_, offset, expected) => {
    await writeFile(join(root, 'attributes'), `${project + offset} --------------------P--- ${directory}\n`);
    expect(await hasLimit(directory, mounterOf({ path: '/', projectQuota: true }))).toBe(expected);
    expect(await hasLimit(directory, mounterOf({ path: '/', projectQuota: false }))).toBe(false);
    expect(await hasLimit(join(root, 'nothing'), mounterOf({ path: '/', projectQuota: true }))).toBe(false);
  });
});
