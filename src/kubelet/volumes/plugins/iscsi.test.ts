import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { core } from '#api';
import { realClock, runProgram } from '#base';
import type { Client } from '#client';
import { hostMounter } from '../mount/mounter.ts';
import { PodDirectories } from '../pod-directories.ts';
import { SeLinux } from '../se-linux.ts';
import type { VolumePlugin, VolumeSpec } from '../volume-plugin.ts';
import { iscsiPlugin } from './iscsi.ts';
import { Iscsiadm } from './iscsiadm.ts';

const canLoop = process.getuid?.() === 0 && spawnSync('losetup', ['--find']).status === 0;
if (!canLoop) console.info('tests of iSCSI are skipped: they need root and loop devices');
const mounter = hostMounter();
const IQN = 'iqn.2026-01.com.example:disk';
const PORTAL = '10.0.0.1:3260';
const DEAD_PORTAL = '10.0.0.9:3260';
const ATTACHED = `kubernetes.io/iscsi/10.0.0.1:${IQN}:3`;
const POD = { metadata: { name: 'p', namespace: 'default', uid: 'u' }, spec: { containers: [] } } as core.Pod;

/** Stands in for open-iscsi's tool: a login shows a loop device as the disk. Every call is kept in `calls`. */
const tool = (root: string) => `#!${process.execPath}
const fs = require('node:fs');
const { execFileSync } = require('node:child_process');
const args = process.argv.slice(2);
fs.appendFileSync('${root}/calls', args.join(' ') + '\\n');
const device = '${root}/by-path/ip-${PORTAL}-iscsi-${IQN}-lun-3';
if (args.includes('--discover') && args.includes('${DEAD_PORTAL}')) {
  while (!fs.existsSync('${root}/given-up')) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
  process.exit(4);
}
if (args.includes('show')) console.log('iface.transport_name = tcp\\niface.iscsi_ifacename = default\\niface.mtu = <empty>');
if (args.includes('--login')) fs.symlinkSync(execFileSync('losetup', ['--find', '--show', '${root}/disk.img']).toString().trim(), device);
if (args.includes('--logout') && !fs.existsSync(device)) process.exit(21);
if (args.includes('--logout')) { execFileSync('losetup', ['--detach', fs.readlinkSync(device)]); fs.unlinkSync(device); }
`;

describe('an iSCSI disk', () => {
  let root: string;
  let plugin: VolumePlugin;
  let volumesAttached: { name: string }[];
  beforeEach(async () => {
    volumesAttached = [{ name: ATTACHED }];
    root = await mkdtemp(join(tmpdir(), 'iscsi-'));
    await mkdir(join(root, 'by-path'));
    await writeFile(join(root, 'iscsiadm'), tool(root), { mode: 0o755 });
    await writeFile(join(root, 'disk.img'), Buffer.alloc(8 << 20));
    plugin = open(new Iscsiadm(realClock, { program: join(root, 'iscsiadm'), devices: join(root, 'by-path') }));
  });
  afterEach(async () => {
    const left = (await mounter.mountsBelow(root)).map(({ path }) => path);
    await mounter.unmount(...left.reverse());
    const loops = async () =>
      (await runProgram('losetup', ['--noheadings', '--output', 'NAME', '--associated', join(root, 'disk.img')])).trim();
    // The kernel detaches a device when its last user, possibly udev, has closed it.
    await expect.poll(loops, { timeout: 10_000 }).toBe('');
    await rm(root, { recursive: true });
    expect(left).toEqual([]);
  });

  const open = (iscsiadm: Iscsiadm) => {
    const data = {
      'node.session.auth.username': Buffer.from('me').toString('base64'),
      'node.session.auth.password': Buffer.from('secret').toString('base64'),
    };
    // Both the Secret and the node.
    const client = {
      of: () => ({ get: async () => ({ metadata: { name: 's' }, data, status: { volumesAttached } }) }),
    } as unknown as Client;
    const deps = { mounter, client, clock: realClock, directories: new PodDirectories(root), seLinux: new SeLinux(root), nodeName: 'n' };
    return iscsiPlugin(deps, iscsiadm);
  };
  const spec = (over: object = {}, volumeMode = 'Filesystem'): VolumeSpec => ({
    ...{ podVolumeName: 'v', name: 'pv', readOnly: false, volume: { name: 'v' } },
    persistentVolume: {
      metadata: { name: 'pv' },
      spec: {
        volumeMode,
        accessModes: ['ReadWriteOnce'],
        iscsi: { targetPortal: '10.0.0.1', iqn: IQN, lun: 3, iscsiInterface: 'default', ...over },
      },
    } as core.PersistentVolume,
  });
  const pathOf = (uid: string) => new PodDirectories(root).volume(uid, 'kubernetes.io/iscsi', 'pv');
  const calls = async () => (await readFile(join(root, 'calls'), 'utf8')).trim().split('\n');
  const tearDown = (uid: string) => plugin.tearDown({ podUid: uid, name: 'pv', path: pathOf(uid) });

  it('of a machine without iscsiadm is refused with what is missing', async () => {
    const absent = open(new Iscsiadm(realClock, { program: join(root, 'nothing') }));
    await expect(absent.setUp({ spec: spec(), pod: POD, path: pathOf('a') })).rejects.toThrow(
      'iSCSI volumes need the program iscsiadm on the node (package open-iscsi)',
    );
    await absent.tearDown({ podUid: 'a', name: 'pv', path: pathOf('a') });
  });

  it('of a target that does not answer is refused with that', async () => {
    await writeFile(join(root, 'hangs'), '#!/bin/sh\nexec sleep 60\n', { mode: 0o755 });
    const program = join(root, 'hangs');
    const hanging = open(new Iscsiadm(realClock, { program, timeoutMs: 50 }));
    await expect(hanging.setUp({ spec: spec(), pod: POD, path: pathOf('a') })).rejects.toThrow(
      /^\S+\/hangs did not end within 0.05 seconds$/,
    );
  });

  it.skipIf(!canLoop)('is not logged in to before the node has it, and is in use until it is logged out of', async () => {
    expect(await plugin.attachedName?.(spec())).toBe(ATTACHED);
    volumesAttached = [];
    const early = plugin.setUp({ spec: spec(), pod: POD, path: pathOf('a') });
    await expect(early).rejects.toThrow('volume not attached according to node status');
    await expect(readFile(join(root, 'calls'))).rejects.toThrow('ENOENT');
    volumesAttached = [{ name: ATTACHED }];
    await plugin.setUp({ spec: spec(), pod: POD, path: pathOf('a') });
    expect(await plugin.stagedNames?.()).toEqual([ATTACHED]);
    // Existing mounts are adopted, whatever the status says.
    volumesAttached = [];
    await plugin.setUp({ spec: spec(), pod: POD, path: pathOf('a') });
    await tearDown('a');
    expect(await plugin.stagedNames?.()).toEqual([]);
  });

  it.skipIf(!canLoop)('is logged in to once, shared by the pods of the node, and keeps what they wrote', async () => {
    for (const uid of ['a', 'b']) await plugin.setUp({ spec: spec(), pod: POD, path: pathOf(uid) });
    await writeFile(join(pathOf('a'), 'f'), 'kept');
    expect(await readFile(join(pathOf('b'), 'f'), 'utf8')).toBe('kept');
    await tearDown('a');
    expect(await mounter.isMountPoint(pathOf('b'))).toBe(true);
    await tearDown('b');
    await tearDown('b');
    expect((await calls()).filter((call) => /--login$|--logout$/.test(call))).toEqual([
      `-m node -p ${PORTAL} -T ${IQN} -I default --login`,
      `-m node -p ${PORTAL} -T ${IQN} -I default --logout`,
    ]);
    expect(await readdir(join(root, 'plugins/kubernetes.io/iscsi/iface-default'))).toEqual([]);
    // A disk with a file system is never formatted again.
    await plugin.setUp({ spec: spec(), pod: POD, path: pathOf('c') });
    expect(await readFile(join(pathOf('c'), 'f'), 'utf8')).toBe('kept');
    await tearDown('c');
  });

  it.skipIf(!canLoop)('is logged out of although the portal of another does not answer', async () => {
    volumesAttached.push({ name: `kubernetes.io/iscsi/10.0.0.9:${IQN}2:3` });
    await plugin.setUp({ spec: spec(), pod: POD, path: pathOf('a') });
    const deadSpec = spec({ targetPortal: '10.0.0.9', iqn: `${IQN}2` });
    let isOver = false;
    const dead = plugin.setUp({ spec: deadSpec, pod: POD, path: pathOf('dead') }).catch((error: Error) => {
      isOver = true;
      return error.message;
    });
    await expect
      .poll(async () => (await calls()).some((call) => call.includes(`${DEAD_PORTAL} -I default --discover`)), { timeout: 30_000 })
      .toBe(true);
    await tearDown('a');
    expect(await calls()).toContain(`-m node -p ${PORTAL} -T ${IQN} -I default --logout`);
    expect(isOver).toBe(false);
    await writeFile(join(root, 'given-up'), '');
    expect(await dead).toContain('failed to get any path for iscsi disk');
    await tearDown('dead');
    expect((await calls()).at(-1)).toBe(`-m node -p ${DEAD_PORTAL} -T ${IQN}2 -I default -o delete`);
  });

  it.skipIf(!canLoop)('with a file system type that leads elsewhere is refused', async () => {
    const odd = plugin.setUp({ spec: spec({ fsType: '../../bin/sh' }), pod: POD, path: pathOf('a') });
    await expect(odd).rejects.toThrow('"../../bin/sh" is not a file system type');
    await tearDown('a');
  });

  it.skipIf(!canLoop)('that a killed kubelet left is logged out of by the next one', async () => {
    await plugin.setUp({ spec: spec(), pod: POD, path: pathOf('a') });
    plugin = open(new Iscsiadm(realClock, { program: join(root, 'iscsiadm'), devices: join(root, 'by-path') }));
    await plugin.removeOrphans?.();
    expect(await mounter.isMountPoint(pathOf('a'))).toBe(true);
    await mounter.unmount(pathOf('a'));
    await plugin.removeOrphans?.();
    expect((await calls()).at(-1)).toContain('-o delete');
  });

  it.skipIf(!canLoop)('uses CHAP with the credentials of its Secret, and an interface of its own for its initiator', async () => {
    const chap = { chapAuthSession: true, secretRef: { name: 's', namespace: 'default' }, initiatorName: 'iqn.2026-01.com.example:me' };
    await plugin.setUp({ spec: spec(chap), pod: POD, path: pathOf('a') });
    const iface = `${PORTAL}:pv`;
    expect(await calls()).toEqual(
      expect.arrayContaining([
        `-m iface -I ${iface} -o update -n iface.initiatorname -v iqn.2026-01.com.example:me`,
        `-m node -p ${PORTAL} -T ${IQN} -I ${iface} -o update -n node.session.auth.authmethod -v CHAP`,
        `-m node -p ${PORTAL} -T ${IQN} -I ${iface} -o update -n node.session.auth.password -v secret`,
      ]),
    );
    const record = await readFile(join(root, `plugins/kubernetes.io/iscsi/iface-${iface}/${PORTAL}-${IQN}-lun-3.json`), 'utf8');
    expect(record).not.toContain('secret');
    await tearDown('a');
    expect((await calls()).at(-1)).toBe(`-m iface -I ${iface} -o delete`);
  });

  it.skipIf(!canLoop)('is given to a pod as a device where its volume mode is Block', async () => {
    const path = new PodDirectories(root).blockVolume('a', 'kubernetes.io/iscsi', 'pv');
    const { devicePath = '' } = await plugin.setUp({ spec: spec({}, 'Block'), pod: POD, path });
    expect((await stat(devicePath)).isBlockDevice()).toBe(true);
    await plugin.removeOrphans?.();
    expect((await stat(devicePath)).isBlockDevice()).toBe(true);
    await plugin.tearDown({ podUid: 'a', name: 'pv', path });
    expect((await calls()).filter((call) => call.endsWith('--logout'))).toHaveLength(1);
  });
});
