import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { core } from '#api';
import { hostMounter } from '../mount/mounter.ts';
import type { VolumeSpec } from '../volume-plugin.ts';
import { nfsPlugin } from './nfs.ts';

const POD = { metadata: { name: 'p', namespace: 'default', uid: 'u' }, spec: { containers: [] } } as core.Pod;
const volume = (nfs: core.NFSVolumeSource, readOnly = false): VolumeSpec => ({
  ...{ podVolumeName: 'v', name: 'v', readOnly, volume: { name: 'v', nfs } },
});
const persistent = (nfs: core.NFSVolumeSource, mountOptions: readonly string[]): VolumeSpec => ({
  ...{ podVolumeName: 'v', name: 'pv', readOnly: false, volume: { name: 'v' } },
  persistentVolume: { metadata: { name: 'pv' }, spec: { nfs, mountOptions } } as core.PersistentVolume,
});

/** Stands in for mount(8): keeps its arguments, one a line, and ends with the code in `exit`. */
const MOUNT = `#!/bin/sh
printf '%s\\n' "$@" > ROOT/arguments
echo 'mount: bad option; you might need a helper program' >&2
exit $(cat ROOT/exit)
`;

describe('an NFS volume', () => {
  let root: string;
  let path: string;
  const { PATH = '' } = process.env;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'nfs-'));
    path = join(root, 'volume');
    await mkdir(join(root, 'bin'));
    await writeFile(join(root, 'bin/mount'), MOUNT.replaceAll('ROOT', root), { mode: 0o755 });
    await writeFile(join(root, 'exit'), '0');
    process.env.PATH = `${join(root, 'bin')}:${PATH}`;
  });
  afterEach(async () => {
    process.env.PATH = PATH;
    await rm(root, { recursive: true });
  });

  const plugin = (helper?: string) => nfsPlugin({ mounter: hostMounter(), ...(helper && { helper }) });
  const mountArguments = async (spec: VolumeSpec) => {
    const mounted = await plugin().setUp({ spec, pod: POD, path });
    const lines = (await readFile(join(root, 'arguments'), 'utf8')).trim().split('\n');
    return { arguments: lines.slice(lines.indexOf('-t')), ...mounted };
  };

  it.each([
    ['of a pod', volume({ server: 'files.example.com', path: '/export' }), ['--', 'files.example.com:/export'], false],
    ['that is read-only', volume({ server: 'a', path: '/', readOnly: true }), ['-o', 'ro', '--', 'a:/'], true],
    ['that its claim makes read-only', volume({ server: 'a', path: '/' }, true), ['-o', 'ro', '--', 'a:/'], true],
    [
      'with mount options',
      persistent({ server: 'a', path: '/x' }, ['nfsvers=4.1', 'hard']),
      ['-o', 'nfsvers=4.1,hard', '--', 'a:/x'],
      false,
    ],
    ['of an IPv6 address', volume({ server: 'fd00::1', path: '/' }), ['--', '[fd00::1]:/'], false],
    ['of a bracketed IPv6 address', volume({ server: '[fd00::1]', path: '/' }), ['--', '[fd00::1]:/'], false],
    ['whose names look like options', volume({ server: '-o', path: '/$(id) x' }), ['--', '-o:/$(id) x'], false],
  ] as const)('%s is mounted with an argument list', async (_, spec, args, mustBeReadOnly) => {
    expect(await mountArguments(spec)).toEqual({ arguments: ['-t', 'nfs', ...args, path], hostPath: path, mustBeReadOnly });
  });

  it('on a machine without mount.nfs is refused with what is missing', async () => {
    await writeFile(join(root, 'exit'), '32');
    const spec = volume({ server: 'a', path: '/' });
    await expect(plugin(join(root, 'absent')).setUp({ spec, pod: POD, path })).rejects.toThrow(
      /^NFS volumes need the program mount.nfs on the node \(package nfs-common\): mount failed: /,
    );
  });

  it('that the server refuses is refused with what mount said, and leaves no directory when it is torn down', async () => {
    await writeFile(join(root, 'exit'), '32');
    const spec = volume({ server: 'a', path: '/' });
    await expect(plugin(join(root, 'bin/mount')).setUp({ spec, pod: POD, path })).rejects.toThrow(
      `mount failed: exit status 32\nMounting command: mount\nMounting arguments: -t nfs a:/ ${path}\nOutput: mount: bad option; you might need a helper program\n`,
    );
    await plugin().tearDown({ podUid: 'u', name: 'v', path });
    await expect(stat(path)).rejects.toThrow('ENOENT');
  });
});
