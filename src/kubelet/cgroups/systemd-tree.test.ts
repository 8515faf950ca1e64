import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { realClock } from '#base';
import type { DbusMessage } from '../dbus/dbus-wire.ts';
import { type FakeBus, type FakeResponse, openFakeBus } from '../dbus/fake-bus.test-setup.ts';
import { LegacyTree, UnifiedTree } from './cgroup-tree.ts';
import { SystemdTree } from './systemd-tree.ts';
import { SystemdUnits, type UnitProperties } from './systemd-units.ts';

const PODS = 'kubepods.slice/kubepods-burstable.slice';
const UNLIMITED = 2n ** 64n - 1n;

describe('SystemdTree', () => {
  let mount: string;
  let calls: (readonly [string, string, Readonly<Record<string, unknown>>])[];
  const values = (properties: UnitProperties) => Object.fromEntries(Object.entries(properties).map(([name, { value }]) => [name, value]));
  const units = {
    start: async (name: string, properties: UnitProperties) => void calls.push(['start', name, values(properties)]),
    setProperties: async (name: string, properties: UnitProperties) => void calls.push(['set', name, values(properties)]),
    stop: async (name: string) => void calls.push(['stop', name, {}]),
  };

  beforeEach(async () => {
    calls = [];
    mount = await mkdtemp(path.join(os.tmpdir(), 'cgroups-'));
  });
  afterEach(() => rm(mount, { recursive: true }));

  async function unifiedTree(): Promise<SystemdTree> {
    await mkdir(path.join(mount, PODS), { recursive: true });
    for (const directory of ['', 'kubepods.slice']) await writeFile(path.join(mount, directory, 'cgroup.controllers'), 'cpu memory pids\n');
    return new SystemdTree(new UnifiedTree(mount), units);
  }

  it('has systemd start a slice below its parent, and switches on controllers', async () => {
    const tree = await unifiedTree();
    await tree.create(PODS);
    expect(calls).toEqual([
      [
        'start',
        'kubepods-burstable.slice',
        {
          ...{ Description: 'Kubernetes pods', Wants: ['kubepods.slice'], DefaultDependencies: false },
          ...{ CPUAccounting: true, MemoryAccounting: true, TasksAccounting: true, IOAccounting: true },
        },
      ],
    ]);
    expect(await readFile(path.join(mount, 'kubepods.slice/cgroup.subtree_control'), 'utf8')).toBe('+cpu +memory +pids');
  });

  it('tells systemd the limits of a slice in version 2 of cgroups', async () => {
    const tree = await unifiedTree();
    await tree.limit(PODS, { cpuShares: 1024, cpuQuotaUs: 50_001, memoryBytes: 4096, pids: 10 });
    const limits = { CPUWeight: 39n, CPUQuotaPeriodUSec: 100_000n, CPUQuotaPerSecUSec: 510_000n, MemoryMax: 4096n, TasksMax: 10n };
    expect(calls).toEqual([['set', 'kubepods-burstable.slice', limits]]);
    expect(await readFile(path.join(mount, PODS, 'memory.max'), 'utf8')).toBe('4096');
  });

  it('takes limits away from systemd where there are none', async () => {
    const tree = await unifiedTree();
    await tree.limit(PODS, { cpuShares: 2 });
    const none = { CPUWeight: 1n, CPUQuotaPeriodUSec: 100_000n, CPUQuotaPerSecUSec: UNLIMITED, MemoryMax: UNLIMITED };
    expect(calls).toEqual([['set', 'kubepods-burstable.slice', none]]);
  });

  it('tells systemd the limits of a slice in version 1 of cgroups', async () => {
    for (const controller of ['cpu', 'memory']) await mkdir(path.join(mount, controller, 'kubepods.slice'), { recursive: true });
    const tree = new SystemdTree(new LegacyTree(mount), units);
    await tree.reserve('kubepods.slice', { cpuShares: 512, memoryBytes: 4096 });
    expect(calls).toEqual([['set', 'kubepods.slice', { CPUShares: 512n, MemoryLimit: 4096n }]]);
  });

  it('leaves cgroups that are no slices to the files', async () => {
    const tree = await unifiedTree();
    await mkdir(path.join(mount, 'system'));
    await tree.reserve('system', { memoryBytes: 4096 });
    expect(calls).toEqual([]);
    expect(await readFile(path.join(mount, 'system/memory.max'), 'utf8')).toBe('4096');
  });

  it('has systemd stop a slice before its directories are removed', async () => {
    const tree = await unifiedTree();
    await tree.remove(PODS);
    expect(calls).toEqual([['stop', 'kubepods-burstable.slice', {}]]);
    expect(tree.exists(PODS)).toBe(false);
  });
});

describe('SystemdUnits', () => {
  const systemd = { path: '/org/freedesktop/systemd1', interface: 'org.freedesktop.systemd1.Manager' };
  const JOB = '/org/freedesktop/systemd1/job/7';
  let bus: FakeBus;
  let answer: (call: DbusMessage) => FakeResponse;
  let members: string[];

  const endJob = (result: string) =>
    bus.signal({ ...systemd, member: 'JobRemoved', signature: 'uoss', body: [7, JOB, 'kubepods.slice', result] });
  const connect = () => new SystemdUnits({ socketPath: bus.socketPath, userId: 0 }, realClock);
  const started = { signature: 'o', body: [JOB] };

  beforeEach(async () => {
    members = [];
    bus = await openFakeBus((call) => {
      members.push(call.member);
      return ['Hello', 'AddMatch', 'Subscribe'].includes(call.member) ? {} : answer(call);
    });
  });
  afterEach(() => bus[Symbol.asyncDispose]());

  it('waits for the job of a unit, also one that ends before its answer', async () => {
    answer = () => {
      endJob('done');
      return started;
    };
    using units = connect();
    await units.start('kubepods.slice', { MemoryMax: { type: 't', value: 4096n }, Wants: { type: 'as', value: ['a.slice', 'b.slice'] } });
    expect(members).toEqual(['Hello', 'AddMatch', 'Subscribe', 'StartTransientUnit']);
  });

  it('takes a unit that exists, and one that is gone already', async () => {
    answer = ({ member }) => ({
      errorName: `org.freedesktop.systemd1.${member === 'StopUnit' ? 'NoSuchUnit' : 'UnitExists'}`,
      ...{ signature: 's', body: ['as said'] },
    });
    using units = connect();
    await units.start('kubepods.slice', {});
    await units.stop('kubepods.slice');
    expect(members.slice(3)).toEqual(['StartTransientUnit', 'StopUnit']);
  });

  it('says how a job failed', async () => {
    answer = () => {
      endJob('failed');
      return started;
    };
    using units = connect();
    await expect(units.stop('kubepods.slice')).rejects.toThrow('StopUnit kubepods.slice: the job of systemd ended as failed');
  });

  it('connects again after the bus was away', async () => {
    answer = () => ({});
    using units = connect();
    await units.setProperties('kubepods.slice', {});
    bus.disconnect();
    await expect.poll(() => units.setProperties('kubepods.slice', {}).then(() => 'set', String)).toBe('set');
    expect(members.filter((member) => member === 'Hello').length).toBe(2);
  });

  it('says who cannot be reached', async () => {
    using units = new SystemdUnits({ socketPath: '/nonexistent/bus', userId: 0 }, realClock);
    await expect(units.stop('kubepods.slice')).rejects.toThrow('cannot reach systemd, which the cgroup driver needs: connect ENOENT');
  });
});
