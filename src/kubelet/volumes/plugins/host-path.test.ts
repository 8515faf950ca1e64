import { mkdtemp, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkHostPath } from './host-path.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'hostpath-'));
});
afterEach(() => rm(root, { recursive: true }));

describe('a hostPath', () => {
  it.each([
    ['/etc/passwd', 'Socket', 'hostPath type check failed: /etc/passwd is not a socket file'],
    ['/nowhere/at/all', 'Socket', 'hostPath type check failed: /nowhere/at/all is not a socket file'],
    ['/etc/passwd', 'CharDevice', 'hostPath type check failed: /etc/passwd is not a character device'],
    ['/dev/null', 'BlockDevice', 'hostPath type check failed: /dev/null is not a block device'],
    ['/tmp', 'FileOrCreate', 'hostPath type check failed: /tmp is not a file'],
    ['/etc/passwd', 'Directory', 'hostPath type check failed: /etc/passwd is not a directory'],
    ['/etc/passwd', 'DirectoryOrCreate', 'hostPath type check failed: /etc/passwd is not a directory'],
    ['/nowhere/file', 'FileOrCreate', 'open /nowhere/file: no such file or directory'],
    ['/tmp', 'Pipe', 'Pipe is an invalid volume type'],
  ])('%s is not of the type %s', async (path, type, message) => {
    await expect(checkHostPath(path, type)).rejects.toThrow(message);
  });

  it('is made where its type says so', async () => {
    await checkHostPath(join(root, 'a/b'), 'DirectoryOrCreate');
    await checkHostPath(join(root, 'a/f'), 'FileOrCreate');
    expect((await stat(join(root, 'a/b'))).isDirectory()).toBe(true);
    expect((await stat(join(root, 'a/f'))).isFile()).toBe(true);
  });

  it('is left to the runtime where it is a link to nothing', async () => {
    await symlink('nowhere', join(root, 'link'));
    await checkHostPath(join(root, 'link'), 'DirectoryOrCreate');
    await expect(stat(join(root, 'nowhere'))).rejects.toThrow('ENOENT');
  });

  it('without a type is not looked at', async () => {
    await checkHostPath('/nowhere/at/all', '');
  });
});
