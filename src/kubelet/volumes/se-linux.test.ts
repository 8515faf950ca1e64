import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { core } from '#api';
import { contextOption, SeLinux } from './se-linux.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'selinux-'));
  await mkdir(join(root, 'sys/fs/selinux'), { recursive: true });
  await mkdir(join(root, 'etc/selinux/mls/contexts'), { recursive: true });
  await writeFile(join(root, 'sys/fs/selinux/enforce'), '0');
  await writeFile(join(root, 'etc/selinux/config'), '# Comment\nSELINUX=permissive\nSELINUXTYPE=mls\n');
  const contexts = 'process = "system_u:system_r:container_t:s0"\ncontent = "x"\nfile = "system_u:object_r:container_file_t:s0"\n';
  await writeFile(join(root, 'etc/selinux/mls/contexts/lxc_contexts'), contexts);
});
afterEach(() => rm(root, { recursive: true }));

const request = (spec: object, accessModes = ['ReadWriteOncePod']) => ({
  ...{
    path: '',
    spec: {
      podVolumeName: 'v',
      name: 'pv',
      readOnly: false,
      volume: { name: 'v' },
      persistentVolume: { metadata: { name: 'pv' }, spec: { accessModes } },
    },
  },
  pod: { metadata: { name: 'p' }, spec } as core.Pod,
});
const container = (level?: string, mounts = ['v']) => ({
  ...{ name: 'c', image: 'x', volumeMounts: mounts.map((name) => ({ name, mountPath: '/v' })) },
  ...(level && { securityContext: { seLinuxOptions: { level } } }),
});
const OPTIONS = { user: 'user_u', role: 'user_r', type: 'user_t', level: 's0:c1,c2' };

describe('the SELinux label with which a volume is mounted', () => {
  it('is the policy’s for files of containers, with the user and level of the pod', async () => {
    const pod = { securityContext: { seLinuxOptions: OPTIONS }, containers: [container()] };
    expect(await new SeLinux(root).mountLabel(request(pod))).toBe('user_u:object_r:container_file_t:s0:c1,c2');
    expect(contextOption('a:b:c:s0:c1,c2')).toEqual(['context="a:b:c:s0:c1,c2"']);
  });

  it('is that of the containers that mount the volume, which have to agree', async () => {
    const pod = { securityContext: { seLinuxOptions: OPTIONS }, containers: [container('s0:c5'), container('s0:c6', ['w'])] };
    expect(await new SeLinux(root).mountLabel(request(pod))).toBe('system_u:object_r:container_file_t:s0:c5');
    const split = { containers: [container('s0:c5'), container('s0:c6')] };
    await expect(new SeLinux(root).mountLabel(request(split))).rejects.toThrow('multiple SELinux labels found: ');
  });

  it.each([
    ['without a level, which the runtime would draw', { containers: [container()] }, undefined],
    ['of a volume that several pods may use', { containers: [container('s0:c5')] }, ['ReadWriteOnce']],
    [
      'of a pod that wants its files labelled one by one',
      { securityContext: { seLinuxChangePolicy: 'Recursive' }, containers: [container('s0:c5')] },
      undefined,
    ],
  ])('is none %s', async (_, pod, modes) => {
    expect(await new SeLinux(root).mountLabel(request(pod, modes))).toBeUndefined();
  });

  it('is none on a machine without SELinux', async () => {
    await rm(join(root, 'sys/fs/selinux/enforce'));
    expect(await new SeLinux(root).mountLabel(request({ containers: [container('s0:c5')] }))).toBeUndefined();
  });
});
