import { access, mkdir, mkdtemp, open, readdir, rm, stat, statfs, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runProgram } from '#base';
import { hostMounter } from '../volumes/mount/mounter.ts';
import { directoryBackend, type LocalBackend } from './local-backend.ts';
import { VolumeInUseError } from './loop-image.ts';

const mounter = hostMounter();
const canLoop = await Promise.all([access('/dev/loop-control'), runProgram('mkfs.ext4', ['-V'])]).then(
  () => process.getuid?.() === 0,
  () => false,
);
/** Quotas need CONFIG_QFMT_V2, which small kernels lack. */
const canLimit = canLoop && (await tryQuotas());
if (!canLimit) console.info('the test of real quotas is skipped: this kernel has no project quotas on ext4');
let root: string;
let backend: LocalBackend;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'local-'));
  backend = directoryBackend(join(root, 'volumes'), mounter);
});
afterEach(async () => {
  await mounter.unmount(...(await mounter.mountsBelow(root)).map(({ path }) => path).reverse());
  await rm(root, { recursive: true });
});

async function tryQuotas(): Promise<boolean> {
  const place = await mkdtemp(join(tmpdir(), 'quota-'));
  try {
    await mountWithQuotas(join(place, 'disk'));
    await mounter.unmount(join(place, 'disk'));
    return true;
  } catch {
    return false;
  } finally {
    await rm(place, { recursive: true });
  }
}

/** Rejects where the kernel has no project quotas. */
async function mountWithQuotas(target: string): Promise<void> {
  const image = `${target}.img`;
  await writeFile(image, '');
  await truncate(image, 64 << 20);
  await mkdir(target);
  await runProgram('mkfs.ext4', ['-q', '-F', '-O', 'project,quota', '-E', 'quotatype=prjquota', image]);
  await mounter.mount({ source: image, target, fsType: 'ext4', options: ['loop', 'prjquota'] });
}

describe('a local volume', () => {
  it('is a world-writable directory, and is deleted with its content', async () => {
    const request = { name: 'pvc-1', backing: 'directory', bytes: 1 } as const;
    await backend.create(request);
    const path = backend.path('pvc-1', 'directory');
    expect((await stat(path)).mode & 0o7777).toBe(0o777);
    await writeFile(join(path, 'f'), 'x');
    await backend.create(request);
    expect(await readdir(path)).toEqual(['f']);
    await backend.remove('pvc-1');
    await backend.remove('pvc-1');
    expect(await readdir(join(root, 'volumes'))).toEqual([]);
  });

  it('is unfinished until it is committed', async () => {
    await backend.create({ name: 'pvc-1', backing: 'directory', bytes: 1 });
    expect(await backend.unfinished()).toEqual(['pvc-1']);
    await backend.commit('pvc-1');
    expect(await backend.unfinished()).toEqual([]);
  });

  it.each(['../x', '', '.', '/etc', 'a/b'])('has no name like %s', async (name) => {
    await expect(backend.create({ name, backing: 'directory', bytes: 1 })).rejects.toThrow('not the name of a volume');
  });

  it.skipIf(!canLoop)(
    'in a file has a size, keeps its data when it is mounted again, and grows (needs root, loop devices and mkfs.ext4)',
    async () => {
      const request = { name: 'pvc-1', backing: 'loop', bytes: 8 << 20 } as const;
      await backend.create(request);
      const path = backend.path('pvc-1', 'loop');
      await writeFile(join(path, 'f'), 'x');
      await expect(writeFile(join(path, 'large'), Buffer.alloc(9 << 20))).rejects.toThrow('ENOSPC');
      await rm(join(path, 'large'));
      await mounter.unmount(join(root, 'volumes/pvc-1'));
      await expect(stat(path)).rejects.toThrow('ENOENT');
      await backend.ensureMounted(request);
      expect(await readdir(path)).toEqual(['f']);
      await backend.expand({ ...request, bytes: 32 << 20 });
      const { blocks, bsize } = await statfs(path);
      expect(blocks * bsize).toBeGreaterThan(20 << 20);
      await backend.remove('pvc-1');
      expect(await mounter.mountsBelow(root)).toEqual([]);
      expect(await readdir(join(root, 'volumes'))).toEqual([]);
    },
  );

  it.skipIf(!canLoop)('in a file that is released is no longer mounted, and keeps its data', async () => {
    const request = { name: 'pvc-1', backing: 'loop', bytes: 8 << 20 } as const;
    await backend.create(request);
    const path = backend.path('pvc-1', 'loop');
    await writeFile(join(path, 'f'), 'x');
    await backend.release('pvc-1');
    await backend.release('pvc-1');
    expect(await mounter.mountsBelow(root)).toEqual([]);
    expect(await runProgram('losetup', ['--list'])).not.toContain(root);
    await backend.ensureMounted(request);
    expect(await readdir(path)).toEqual(['f']);
  });

  describe.skipIf(!canLoop)('in a file on a kernel that lets no mounted file system grow', () => {
    const request = { name: 'pvc-1', backing: 'loop', bytes: 8 << 20 } as const;
    const { PATH = '' } = process.env;
    beforeEach(async () => {
      await backend.create(request);
      const real = (await runProgram('which', ['resize2fs'])).trim();
      await mkdir(join(root, 'bin'));
      const refuse = 'echo "Permission denied to resize filesystem" >&2; exit 1';
      await writeFile(join(root, 'bin/resize2fs'), `#!/bin/sh\ngrep -q "^$1 " /proc/mounts && { ${refuse}; }\nexec ${real} "$@"\n`, {
        mode: 0o755,
      });
      process.env.PATH = `${join(root, 'bin')}:${PATH}`;
    });
    afterEach(() => {
      process.env.PATH = PATH;
    });
    const sizeOf = async () => {
      const { blocks, bsize } = await statfs(backend.path('pvc-1', 'loop'));
      return blocks * bsize;
    };

    it('grows while no pod uses it, and keeps its data', async () => {
      await writeFile(join(backend.path('pvc-1', 'loop'), 'f'), 'x');
      await backend.expand({ ...request, bytes: 32 << 20 });
      expect(await sizeOf()).toBeGreaterThan(20 << 20);
      expect(await readdir(backend.path('pvc-1', 'loop'))).toEqual(['f']);
      await backend.remove('pvc-1');
      expect(await runProgram('losetup', ['--list'])).not.toContain(root);
    });

    it('says why it cannot grow while a pod uses it, and stays mounted', async () => {
      const target = join(root, 'pod');
      await mkdir(target);
      await mounter.mount({ source: backend.path('pvc-1', 'loop'), target });
      await expect(backend.expand({ ...request, bytes: 32 << 20 })).rejects.toThrow(VolumeInUseError);
      expect(await sizeOf()).toBeLessThan(9 << 20);
      await mounter.unmount(target);
      await backend.expand({ ...request, bytes: 32 << 20 });
      expect(await sizeOf()).toBeGreaterThan(20 << 20);
    });
  });

  it('with a quota is refused where the file system has none, and says what to do', async () => {
    await expect(backend.create({ name: 'pvc-1', backing: 'quota', bytes: 1 })).rejects.toThrow(
      /^backing "quota" needs project quotas, and .* is mounted without them: use ext4 \(mkfs.ext4 -O project,quota\) or XFS/,
    );
    await backend.remove('pvc-1');
    expect(await readdir(join(root, 'volumes'))).toEqual([]);
  });

  it.skipIf(!canLimit)(
    'with a quota holds no more than its size, grows, and leaves no limit behind (needs ext4 with project quotas)',
    async () => {
      const disk = join(root, 'disk');
      await mountWithQuotas(disk);
      backend = directoryBackend(join(disk, 'volumes'), mounter);
      const request = { name: 'pvc-1', backing: 'quota', bytes: 1 << 20 } as const;
      await backend.create(request);
      await backend.create(request);
      const path = backend.path('pvc-1', 'quota');
      // As in a container: CAP_SYS_RESOURCE bypasses quotas.
      const fill = (mib: number) =>
        runProgram('setpriv', [
          '--bounding-set=-sys_resource',
          'dd',
          'if=/dev/zero',
          `of=${path}/f`,
          'bs=1M',
          `count=${mib}`,
          'conv=fsync',
        ]);
      await expect(fill(3)).rejects.toThrow('No space left on device');
      expect((await stat(join(path, 'f'))).size).toBeLessThanOrEqual(1 << 20);
      const { blocks, bsize } = await statfs(path);
      expect(blocks * bsize).toBe(1 << 20);
      await backend.expand({ ...request, bytes: 8 << 20 });
      await fill(3);
      await backend.remove('pvc-1');
      expect(await readdir(join(disk, 'volumes'))).toEqual([]);
      expect(await runProgram('repquota', ['-P', '-n', disk])).not.toMatch(/^#2147/m);
    },
  );

  it('that could not be created is cleaned up', async () => {
    await expect(backend.create({ name: 'pvc-1', backing: 'loop', bytes: Number.MAX_SAFE_INTEGER })).rejects.toThrow();
    expect(await backend.unfinished()).toEqual(['pvc-1']);
    await backend.remove('pvc-1');
    expect(await readdir(join(root, 'volumes'))).toEqual([]);
  });

  it.skipIf(!canLoop)('as a device keeps its data when the machine starts again, grows, and leaves no device behind', async () => {
    const request = { name: 'pvc-1', backing: 'block', bytes: 8 << 20 } as const;
    await backend.create(request);
    const path = backend.path('pvc-1', 'block');
    const transfer = async (text?: string) => {
      await using file = await open(path, 'r+');
      if (text !== undefined) await file.write(text, 0);
      await file.sync();
      return (await file.read(Buffer.alloc(4), 0, 4, 0)).buffer.toString();
    };
    await transfer('kept');
    // As a reboot does: mounts and devices are gone, files are not.
    const device = (
      await runProgram('losetup', ['--noheadings', '--output', 'NAME', '--associated', join(root, 'volumes/pvc-1.img')])
    ).trim();
    await mounter.unmount(path);
    await runProgram('losetup', ['--detach', device]);
    expect((await stat(path)).isFile()).toBe(true);
    await backend.ensureMounted(request);
    await backend.ensureMounted(request);
    expect(await transfer()).toBe('kept');
    await backend.expand({ ...request, bytes: 32 << 20 });
    expect(await runProgram('blockdev', ['--getsize64', path])).toBe(`${32 << 20}\n`);
    await backend.remove('pvc-1');
    expect(await readdir(join(root, 'volumes'))).toEqual([]);
    expect(await runProgram('losetup', ['--list'])).not.toContain(root);
  });
});
