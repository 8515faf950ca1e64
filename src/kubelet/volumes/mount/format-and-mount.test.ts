import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { formatAndMount } from './format-and-mount.ts';
import { hostMounter } from './mounter.ts';

describe('a device with a file system', () => {
  let root: string;
  const { PATH = '' } = process.env;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'format-'));
    await mkdir(join(root, 'bin'));
    process.env.PATH = `${join(root, 'bin')}:${PATH}`;
    await program('blkid', 'echo TYPE=ext4');
    await program('mount', 'true');
  });
  afterEach(async () => {
    process.env.PATH = PATH;
    await rm(root, { recursive: true });
  });

  /** Replaces a program, and records its calls. */
  const program = (name: string, script: string) =>
    writeFile(join(root, 'bin', name), `#!/bin/sh\necho ${name} >> ${root}/calls\n${script}\n`, { mode: 0o755 });
  const calls = async () => (await readFile(join(root, 'calls'), 'utf8')).trim().split('\n');
  const mount = (...options: readonly string[]) =>
    formatAndMount({ device: '/dev/x', target: join(root, 'target'), fsType: 'ext4', options }, hostMounter());

  it.each([
    ['is checked before it is mounted', 0],
    ['whose errors were corrected is mounted', 1],
    ['that fsck cannot check is mounted', 8],
  ])('%s', async (_, exitCode) => {
    await program('fsck', `exit ${exitCode}`);
    await mount();
    expect(await calls()).toEqual(['blkid', 'fsck', 'mount']);
  });

  it('with errors that fsck cannot correct is not mounted', async () => {
    await program('fsck', 'echo UNEXPECTED INCONSISTENCY >&2; exit 4');
    await expect(mount()).rejects.toThrow("'fsck' found errors on device /dev/x but could not correct them: fsck failed: UNEXPECTED");
    expect(await calls()).toEqual(['blkid', 'fsck']);
  });

  it('is not checked where it may only be read', async () => {
    await mount('ro');
    expect(await calls()).toEqual(['blkid', 'mount']);
  });
});
