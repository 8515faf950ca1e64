import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hostMounter } from '../mount/mounter.ts';
import { PodDirectories } from '../pod-directories.ts';
import { bindSubPath, makeSubPath } from './sub-path.ts';

const isRoot = process.getuid?.() === 0;
const mounter = hostMounter();
let root: string;
let volume: string;
let outside: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'subpath-'));
  volume = join(root, 'volume');
  outside = join(root, 'outside');
  await mkdir(volume, { mode: 0o777 });
  await mkdir(outside);
  await writeFile(join(outside, 'secret'), 'secret');
});
afterEach(async () => {
  const mounts = await mounter.mountsBelow(root);
  await mounter.unmount(...mounts.map(({ path }) => path).reverse());
  await rm(root, { recursive: true });
});

const bind = (subPath: string) =>
  bindSubPath(
    { podUid: 'uid', volumeName: 'v', containerName: 'c', mountIndex: 0, volumePath: volume, subPath },
    new PodDirectories(join(root, 'kubelet')),
    mounter,
  );

describe('the directories of a subPath', () => {
  it('are made with the mode of the volume', async () => {
    await makeSubPath(volume, 'a/b');
    const { mode } = await stat(volume);
    expect((await stat(join(volume, 'a'))).mode).toBe(mode);
    expect((await stat(join(volume, 'a/b'))).mode).toBe(mode);
  });

  it('are made behind a link that stays in the volume', async () => {
    await mkdir(join(volume, 'real'));
    await symlink('real', join(volume, 'link'));
    await makeSubPath(volume, 'link/new');
    expect((await stat(join(volume, 'real/new'))).isDirectory()).toBe(true);
  });

  it.each(['../outside', '/'])('are not made behind a link to %s', async (target) => {
    await symlink(target, join(volume, 'link'));
    await expect(makeSubPath(volume, 'link/new')).rejects.toThrow('outside of the volume');
    expect(await readdir(outside)).toEqual(['secret']);
  });

  it('are not made in the place of a link that points nowhere', async () => {
    await symlink('../outside/new', join(volume, 'link'));
    await expect(makeSubPath(volume, 'link')).rejects.toThrow('EEXIST');
    expect(await readdir(outside)).toEqual(['secret']);
  });
});

describe.skipIf(!isRoot)('a subPath that is mounted (needs root)', () => {
  it.each([
    ['file', false],
    ['directory', true],
  ] as const)('is a %s as in the volume', async (_, isDirectory) => {
    const path = join(volume, 'x');
    await (isDirectory ? mkdir(path) : writeFile(path, 'text'));
    expect((await stat(await bind('x'))).ino).toBe((await stat(path)).ino);
  });

  it('is mounted anew for a container that starts again', async () => {
    await writeFile(join(volume, 'x'), 'old');
    await bind('x');
    await rm(join(volume, 'x'));
    await writeFile(join(volume, 'x'), 'new');
    expect(await readFile(await bind('x'), 'utf8')).toBe('new');
    expect(await mounter.mountsBelow(root)).toHaveLength(1);
  });

  it.each(['../outside', '../outside/secret', '/etc/passwd'])('is not what a link to %s names', async (target) => {
    await symlink(target, join(volume, 'x'));
    await expect(bind('x')).rejects.toThrow('outside of the volume');
    expect(await mounter.mountsBelow(root)).toEqual([]);
  });

  it('is what was checked, when a link takes its place at any moment', async () => {
    await mkdir(join(volume, 'd'));
    await writeFile(join(volume, 'd/secret'), 'mine');
    let isOver = false;
    // A container that does nothing else than to exchange the directory for a link and back.
    const attack = (async () => {
      while (!isOver) {
        await rm(join(volume, 'd'), { recursive: true });
        await symlink('../outside', join(volume, 'd'));
        await rm(join(volume, 'd'));
        await mkdir(join(volume, 'd'));
        await writeFile(join(volume, 'd/secret'), 'mine');
      }
    })();
    for (let i = 0; i < 30; i++) {
      const target = await bind('d').catch(() => undefined);
      const text = target && (await readFile(join(target, 'secret'), 'utf8').catch(() => undefined));
      expect(text).not.toBe('secret');
    }
    isOver = true;
    await attack;
  });
});
