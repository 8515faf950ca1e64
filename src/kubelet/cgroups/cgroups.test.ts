import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { core } from '#api';
import { realClock, silentLogger } from '#base';
import type { PodContext } from '../pods/hooks/pod-hook.ts';
import { type CgroupLimits, podLimits } from './cgroup-limits.ts';
import { CgroupNames } from './cgroup-names.ts';
import { type CgroupTree, LegacyTree, moveToCgroup, sharesToWeight, statValue, UnifiedTree } from './cgroup-tree.ts';
import { PodCgroups } from './cgroups-hook.ts';

const UID = '0a1b2c3d-1111-2222-3333-444455556666';
const podOf = (qosClass: string, resources: core.ResourceRequirements = {}): core.Pod => ({
  metadata: { name: 'p', namespace: 'd', uid: UID },
  spec: { containers: [{ name: 'c', resources }] },
  status: { qosClass },
});

describe('CgroupNames', () => {
  it.each([
    ['cgroupfs', '/', 'Guaranteed', `/kubepods/pod${UID}`, `kubepods/pod${UID}`],
    ['cgroupfs', '/a/b', 'Burstable', `/a/b/kubepods/burstable/pod${UID}`, `a/b/kubepods/burstable/pod${UID}`],
    [
      ...(['systemd', '/', 'BestEffort'] as const),
      `kubepods-besteffort-pod${UID.replaceAll('-', '_')}.slice`,
      `kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod${UID.replaceAll('-', '_')}.slice`,
    ],
  ] as const)('with the driver %s below %s name a %s pod', (driver, root, qosClass, parent, below) => {
    const names = new CgroupNames(driver, root);
    const parts = names.podParts(podOf(qosClass));
    expect([names.parent(parts), names.path(parts)]).toEqual([parent, below]);
  });

  it('name slices as systemd does: each after all of its parents, whatever the parts', () => {
    const part = fc.stringMatching(/^[a-z][a-z0-9-]{0,8}$/);
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 5 }), (parts) => {
        const names = new CgroupNames('systemd', '/');
        const slices = names.path(parts).split('/');
        expect(slices.length).toBe(parts.length);
        for (const [index, slice] of slices.entries()) {
          expect(slice.endsWith('.slice')).toBe(true);
          if (index > 0) expect(slice.startsWith(`${slices[index - 1]?.slice(0, -'.slice'.length)}-`)).toBe(true);
          expect(slice.slice(0, -'.slice'.length).split('-').length).toBe(index + 1);
        }
        expect(names.parent(parts)).toBe(slices.at(-1));
      }),
    );
  });
});

describe('podLimits', () => {
  it.each([
    ['best-effort pods weigh least', podOf('BestEffort'), { cpuShares: 2 }],
    [
      'a guaranteed pod has its limits',
      podOf('Guaranteed', { requests: { cpu: '500m', memory: '64Mi' }, limits: { cpu: '500m', memory: '64Mi' } }),
      { cpuShares: 512, cpuQuotaUs: 50_000, memoryBytes: 64 * 1024 ** 2 },
    ],
    ['what one container does not limit, the pod does not', podOf('Burstable', { requests: { cpu: '1' } }), { cpuShares: 1024 }],
  ])('%s', (_, pod, expected) => {
    expect(podLimits(pod, {})).toEqual(expected);
  });
});

describe('the huge pages of a pod', () => {
  it('are those that it requests, of a class however low, and none of the other sizes', () => {
    const hugePageSizes = ['2MB', '1GB'];
    const resources = { requests: { 'hugepages-2Mi': '4Mi' }, limits: { 'hugepages-2Mi': '4Mi' } };
    expect(podLimits(podOf('Burstable', resources), { hugePageSizes }).hugePages).toEqual(
      new Map([
        ['2MB', 4 * 1024 ** 2],
        ['1GB', 0],
      ]),
    );
    expect(podLimits(podOf('BestEffort'), { hugePageSizes: ['2MB'] }).hugePages).toEqual(new Map([['2MB', 0]]));
  });
});

describe('sharesToWeight', () => {
  it('maps the whole range of v1 into that of v2, and keeps the order', () => {
    const shares = fc.integer({ min: 2, max: 262_144 });
    fc.assert(
      fc.property(shares, shares, (a, b) => {
        const [low, high] = [Math.min(a, b), Math.max(a, b)];
        expect(sharesToWeight(low)).toBeGreaterThanOrEqual(1);
        expect(sharesToWeight(high)).toBeLessThanOrEqual(10_000);
        expect(sharesToWeight(low)).toBeLessThanOrEqual(sharesToWeight(high));
      }),
    );
  });
});

it('a process is moved into its own cgroup in every hierarchy', async () => {
  const mount = await mkdtemp(path.join(os.tmpdir(), 'cgroups-'));
  try {
    for (const controller of ['cpu', 'memory']) await mkdir(path.join(mount, controller));
    await moveToCgroup('/kubelet.slice/own', 4711, mount);
    for (const controller of ['cpu', 'memory'])
      expect(await readFile(path.join(mount, controller, 'kubelet.slice/own/cgroup.procs'), 'utf8')).toBe('4711');
  } finally {
    await rm(mount, { recursive: true });
  }
});

describe('the trees of cgroups', () => {
  let mount: string;
  beforeEach(async () => {
    mount = await mkdtemp(path.join(os.tmpdir(), 'cgroup-'));
  });
  afterEach(() => rm(mount, { recursive: true }));
  const read = (file: string) => readFile(path.join(mount, file), 'utf8');
  const write = (file: string, text: string) => writeFile(path.join(mount, file), text);

  it('of version 2 switch on the controllers that there are, on the way down, and write its files', async () => {
    await write('cgroup.controllers', 'cpuset cpu memory pids misc\n');
    await write('cgroup.subtree_control', '');
    const tree = new UnifiedTree(mount);
    await tree.create('kubepods');
    expect(await read('cgroup.subtree_control')).toBe('+cpuset +cpu +memory +pids');
    await tree.limit('kubepods', { cpuShares: 1024, cpuQuotaUs: 50_000, memoryBytes: 4096, pids: 10 });
    const files = ['cpu.weight', 'cpu.max', 'memory.max', 'pids.max'].map((name) => read(`kubepods/${name}`));
    expect(await Promise.all(files)).toEqual(['39', '50000 100000', '4096', '10']);
    await tree.limit('kubepods', {});
    expect([await read('kubepods/cpu.max'), await read('kubepods/memory.max')]).toEqual(['max 100000', 'max']);
  });

  it('of both versions limit huge pages where the kernel does', async () => {
    const hugePages = new Map([['2MB', 4096]]);
    await mkdir(path.join(mount, 'hugetlb/p'), { recursive: true });
    await new LegacyTree(mount).reserve('p', { hugePages });
    expect(await read('hugetlb/p/hugetlb.2MB.limit_in_bytes')).toBe('4096');
    await mkdir(path.join(mount, 'q'));
    await new UnifiedTree(mount).reserve('q', { hugePages });
    await write('q/hugetlb.2MB.max', 'max');
    await new UnifiedTree(mount).reserve('q', { hugePages });
    expect([await read('q/hugetlb.2MB.max'), await readdir(path.join(mount, 'q'))]).toEqual(['4096', ['hugetlb.2MB.max']]);
  });

  it('of both versions tell whether swap is limited', async () => {
    await mkdir(path.join(mount, 'memory/p'), { recursive: true });
    const [legacy, unified] = [new LegacyTree(mount), new UnifiedTree(mount)];
    expect([legacy.countsSwap('p'), unified.countsSwap('memory')]).toEqual([false, false]);
    await write('memory/p/memory.memsw.limit_in_bytes', '1');
    await write('memory/memory.swap.max', 'max');
    expect([legacy.countsSwap('p'), unified.countsSwap('memory')]).toEqual([true, true]);
  });

  it('of both versions tell what is used without what the kernel can take back', async () => {
    await mkdir(path.join(mount, 'memory/p'), { recursive: true });
    await mkdir(path.join(mount, 'p'));
    await write('memory/p/memory.usage_in_bytes', '1000\n');
    await write('memory/p/memory.stat', 'inactive_file 1\ntotal_inactive_file 300\n');
    await write('memory/p/memory.limit_in_bytes', '9223372036854771712\n');
    expect(await new LegacyTree(mount).memory('p')).toEqual({ workingSetBytes: 700, limitBytes: undefined });
    await write('p/memory.current', '1000\n');
    await write('p/memory.stat', 'anon 5\ninactive_file 2000\n');
    await write('p/memory.max', '4096\n');
    expect(await new UnifiedTree(mount).memory('p')).toEqual({ workingSetBytes: 0, limitBytes: 4096 });
  });

  it('of version 2 hold pods in slices where systemd is the driver, and classes by what their pods ask for', async () => {
    const slice = `kubepods-burstable-pod${UID.replaceAll('-', '_')}.slice`;
    const below = ['', 'kubepods.slice', 'kubepods.slice/kubepods-burstable.slice'];
    for (const directory of below) {
      await mkdir(path.join(mount, directory), { recursive: true });
      await write(path.join(directory, 'cgroup.controllers'), 'cpu memory pids\n');
    }
    const names = new CgroupNames('systemd', '/');
    const cgroups = new PodCgroups({ names, tree: new UnifiedTree(mount), clock: realClock, logger: silentLogger, pidsLimit: 50 });
    const pod = podOf('Burstable', { requests: { cpu: '1' }, limits: { memory: '64Mi' } });
    expect(cgroups.parentOf(pod)).toBe(slice);
    await cgroups.prepare({ pod, uid: UID } as PodContext);
    const own = `kubepods.slice/kubepods-burstable.slice/${slice}`;
    const files = ['cpu.weight', 'cpu.max', 'memory.max', 'pids.max'].map((name) => read(`${own}/${name}`));
    expect(await Promise.all(files)).toEqual(['39', 'max 100000', String(64 * 1024 ** 2), '50']);
    expect(await read('kubepods.slice/kubepods-burstable.slice/cpu.weight')).toBe('39');
    expect(await read('kubepods.slice/kubepods-besteffort.slice/cpu.weight')).toBe('1');
    for (const directory of below) expect(await read(path.join(directory, 'cgroup.subtree_control'))).toBe('+cpu +memory +pids');
  });

  it('of version 1 give a new cpuset what its nearest parent has that is not empty', async () => {
    const file = (directory: string, name: string) => path.join('cpuset', directory, name);
    for (const directory of ['', 'a', 'a/b']) {
      await mkdir(path.join(mount, 'cpuset', directory), { recursive: true });
      for (const name of ['cpuset.cpus', 'cpuset.mems']) await write(file(directory, name), directory === '' ? '0-1\n' : '\n');
    }
    await new LegacyTree(mount).create('a/b');
    const all = ['a', 'a/b'].flatMap((directory) => ['cpuset.cpus', 'cpuset.mems'].map((name) => read(file(directory, name))));
    expect(await Promise.all(all)).toEqual(['0-1', '0-1', '0-1', '0-1']);
  });

  it('have no quota for a pod with processors of its own', async () => {
    await mkdir(path.join(mount, 'cpu'));
    const names = new CgroupNames('cgroupfs', '/');
    const deps = { names, tree: new LegacyTree(mount), clock: realClock, logger: silentLogger, hasExclusiveCpus: () => true };
    const pod = podOf('Guaranteed', { requests: { cpu: '1', memory: '64Mi' }, limits: { cpu: '1', memory: '64Mi' } });
    await new PodCgroups(deps).prepare({ pod, uid: UID } as PodContext);
    expect(await read(`cpu/kubepods/pod${UID}/cpu.cfs_quota_us`)).toBe('-1');
  });

  it('grow before their containers and shrink after them', async () => {
    const writes: object[] = [];
    const tree = {
      version: 1,
      exists: () => true,
      read: async () => '40000',
      memory: async () => ({ workingSetBytes: 0, limitBytes: 64 * 1024 ** 2 }),
      reserve: async (_: string, limits: object) => void writes.push(limits),
      limit: async (_: string, { cpuQuotaUs, memoryBytes }: CgroupLimits) => void writes.push({ cpuQuotaUs, memoryBytes }),
    } as unknown as CgroupTree;
    const cgroups = new PodCgroups({ tree, names: new CgroupNames('cgroupfs', '/'), clock: realClock, logger: silentLogger });
    const resized = async (cpu: string, memory: string) => {
      const pod = podOf('Guaranteed', { requests: { cpu, memory }, limits: { cpu, memory } });
      await cgroups.grow({ pod, uid: UID } as PodContext);
      return writes.splice(0);
    };
    expect(await resized('500m', '32Mi')).toEqual([{ cpuQuotaUs: 50_000 }]);
    expect(await resized('300m', '128Mi')).toEqual([{ memoryBytes: 128 * 1024 ** 2 }]);
    expect(await resized('400m', '64Mi')).toEqual([]);
    await cgroups.grow({ pod: podOf('Burstable'), uid: UID } as PodContext);
    expect(writes.splice(0)).toEqual([{ cpuQuotaUs: -1, memoryBytes: -1 }]);
  });

  it('have the weights of classes written only where these change', async () => {
    await mkdir(path.join(mount, 'cpu'));
    await mkdir(path.join(mount, 'memory'));
    const names = new CgroupNames('cgroupfs', '/');
    const cgroups = new PodCgroups({ names, tree: new LegacyTree(mount), clock: realClock, logger: silentLogger });
    const prepare = (uid: string, cpu: string) => {
      const pod = podOf('Burstable', { requests: { cpu } });
      return cgroups.prepare({ pod: { ...pod, metadata: { ...pod.metadata, uid } }, uid } as PodContext);
    };
    await prepare('one', '1');
    const weights = ['cpu/kubepods/burstable/cpu.shares', 'cpu/kubepods/besteffort/cpu.shares'];
    expect(await Promise.all(weights.map(read))).toEqual(['1024', '2']);
    for (const file of weights) await write(file, 'by somebody else');
    await prepare('two', '1');
    expect(await Promise.all(weights.map(read))).toEqual(['2048', 'by somebody else']);
  });

  it('read one value of a file, and 0 where there is none', () => {
    expect([statValue('file 1\ninactive_file 2\n', 'file'), statValue('', 'file')]).toEqual([1, 0]);
  });
});
