import { lstat, mkdir, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { setVolumeOwnership } from './volume-ownership.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'ownership-'));
  await mkdir(join(root, 'v/d'), { recursive: true });
  await writeFile(join(root, 'v/d/f'), '', { mode: 0o600 });
  await writeFile(join(root, 'outside'), '', { mode: 0o600 });
  await symlink('../outside', join(root, 'v/link'));
});
afterEach(() => rm(root, { recursive: true }));

const modeAndOwner = async (path: string) => {
  const { mode, gid } = await lstat(join(root, path));
  return `${(mode & 0o7777).toString(8)} ${gid}`;
};

describe.skipIf(process.getuid?.() !== 0)('fsGroup (needs root)', () => {
  it('gives everything in the volume to the group, which may write', async () => {
    await setVolumeOwnership(join(root, 'v'), { fsGroup: 2000, readOnly: false });
    expect([await modeAndOwner('v'), await modeAndOwner('v/d'), await modeAndOwner('v/d/f')]).toEqual([
      '2775 2000',
      '2775 2000',
      '660 2000',
    ]);
  });

  it('lets the group only read what is read-only', async () => {
    await setVolumeOwnership(join(root, 'v'), { fsGroup: 2000, readOnly: true });
    expect([await modeAndOwner('v/d'), await modeAndOwner('v/d/f')]).toEqual(['2755 2000', '640 2000']);
  });

  it('gives links to the group, and not what they point to', async () => {
    await setVolumeOwnership(join(root, 'v'), { fsGroup: 2000, readOnly: false });
    expect((await lstat(join(root, 'v/link'))).gid).toBe(2000);
    expect(await modeAndOwner('outside')).toBe('600 0');
  });

  it('leaves a volume alone whose root is right, where OnRootMismatch asks for that', async () => {
    const request = { fsGroup: 2000, readOnly: false, policy: 'OnRootMismatch' };
    await setVolumeOwnership(join(root, 'v'), request);
    await writeFile(join(root, 'v/new'), '', { mode: 0o600 });
    const before = (await stat(join(root, 'v/new'))).mode;
    await setVolumeOwnership(join(root, 'v'), request);
    expect((await stat(join(root, 'v/new'))).mode).toBe(before);
    await setVolumeOwnership(join(root, 'v'), { ...request, policy: 'Always' });
    expect(await modeAndOwner('v/new')).toBe('660 2000');
  });

  it('is not confused by a volume that is nested without end', async () => {
    await mkdir(join(root, 'v', ...Array<string>(300).fill('x')), { recursive: true });
    await expect(setVolumeOwnership(join(root, 'v'), { fsGroup: 2000, readOnly: false })).rejects.toThrow('nested deeper');
  });
});
