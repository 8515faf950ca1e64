import { access, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { core, storage } from '#api';
import { runProgram, seededRandom, silentLogger } from '#base';
import { directoryBackend, hostMounter, startLocalProvisioner } from '#kubelet';
import { startControlPlane } from '../control-plane.ts';

const canLoop = await Promise.all([access('/dev/loop-control'), runProgram('mkfs.ext4', ['-V'])]).then(
  () => process.getuid?.() === 0,
  () => false,
);
const mounter = hostMounter();
const claimKey = { name: 'data', namespace: 'default' };

describe.skipIf(!canLoop)('a claim for a disk that is full (needs root and loop devices)', () => {
  it.each([
    ['directory', 'nr_inodes=1'],
    ['loop', 'size=64k,nr_inodes=1000'],
  ])('says so, and is served when there is room (%s)', async (backing, full) => {
    const root = await mkdtemp(join(tmpdir(), 'full-'));
    const disk = join(root, 'disk');
    await mkdir(disk);
    await mounter.mount({ source: 'tmpfs', target: disk, fsType: 'tmpfs', options: [full] });
    await using plane = await startControlPlane();
    const deps = { client: plane.client, clock: plane.clock, random: seededRandom('full'), logger: silentLogger };
    const backend = directoryBackend(disk, mounter);
    const provisioner = startLocalProvisioner({ backendOf: () => backend, nodeNames: () => ['node-1'] }, deps);
    const claims = plane.client.of(core.PersistentVolumeClaim);
    /** Programs run in real time; the provisioner uses the plane's clock. */
    const until = (condition: () => Promise<boolean>) =>
      expect
        .poll(async () => {
          await plane.clock.advance(500);
          return condition();
        })
        .toBe(true);
    const messages = async () => {
      const { items } = await plane.client.of(core.Event).list({ namespace: 'default' });
      return items.filter(({ reason }) => reason === 'ProvisioningFailed').map(({ message }) => message ?? '');
    };
    await plane.client.of(core.Node).create({ metadata: { name: 'node-1', labels: { 'kubernetes.io/hostname': 'node-1' } } });
    const parameters = { backing };
    await plane.client.of(storage.StorageClass).create({ metadata: { name: 'own' }, provisioner: 'sampan.dev/local', parameters });
    const resources = { requests: { storage: '8Mi' } };
    await claims.create({ metadata: claimKey, spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'own', resources } });
    await until(async () => (await messages()).some((message) => /no space left on device/i.test(message)));
    expect((await claims.get(claimKey)).status?.phase).toBe('Pending');
    await runProgram('mount', ['-o', 'remount,size=64m,nr_inodes=1000', disk]);
    await until(async () => (await claims.get(claimKey)).status?.phase === 'Bound');
    await claims.delete(claimKey);
    await until(async () => (await readdir(disk)).length === 0);
    await provisioner[Symbol.asyncDispose]();
    await mounter.unmount(disk);
    await rm(root, { recursive: true });
    expect(await runProgram('losetup', ['--list'])).not.toContain(root);
  });
});
