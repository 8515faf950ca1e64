import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EventRecorder } from '#client';
import { LegacyTree, UnifiedTree } from './cgroup-tree.ts';
import { enforceReservedCgroups } from './reserved-cgroups.ts';

let mount: string;
beforeEach(async () => {
  mount = await mkdtemp(path.join(os.tmpdir(), 'reserved-'));
});
afterEach(() => rm(mount, { recursive: true }));

const read = (file: string) => readFile(path.join(mount, file), 'utf8').catch(() => undefined);

function recorded() {
  const events: string[] = [];
  const add = (_: unknown, reason: string, message: string) => void events.push(`${reason}: ${message}`);
  return { events, recorder: { normal: add, warning: add } as unknown as EventRecorder };
}

const reserved = { cpu: '500m', memory: '64Mi', pid: '100' };

describe('system-reserved and kube-reserved', () => {
  it('limit their cgroups, in version 2', async () => {
    await mkdir(path.join(mount, 'system.slice'));
    await mkdir(path.join(mount, 'kube.slice'));
    const { events, recorder } = recorded();
    const config = {
      ...{ enforceNodeAllocatable: ['pods', 'system-reserved', 'kube-reserved-compressible'], systemReserved: reserved },
      ...{ systemReservedCgroup: '/system.slice', kubeReserved: reserved, kubeReservedCgroup: '/kube.slice' },
    };
    await enforceReservedCgroups(config, { tree: new UnifiedTree(mount), recorder, nodeName: 'n' });
    expect([await read('system.slice/cpu.weight'), await read('system.slice/memory.max'), await read('system.slice/pids.max')]).toEqual([
      '20',
      String(64 * 1024 ** 2),
      '100',
    ]);
    expect([await read('kube.slice/cpu.weight'), await read('kube.slice/memory.max')]).toEqual(['20', undefined]);
    expect(events).toEqual([
      'NodeAllocatableEnforced: Updated limits on system reserved cgroup /system.slice',
      'NodeAllocatableEnforced: Updated limits on kube reserved cgroup /kube.slice',
    ]);
  });

  it('limit their cgroups, in version 1, and keep other settings', async () => {
    for (const controller of ['cpu', 'memory', 'pids']) await mkdir(path.join(mount, controller, 'runtime'), { recursive: true });
    await writeFile(path.join(mount, 'cpu/runtime/cpu.cfs_quota_us'), '7');
    const config = { enforceNodeAllocatable: ['kube-reserved'], kubeReserved: reserved, kubeReservedCgroup: '/runtime' };
    await enforceReservedCgroups(config, { tree: new LegacyTree(mount), recorder: recorded().recorder, nodeName: 'n' });
    const files = [
      'cpu/runtime/cpu.shares',
      'cpu/runtime/cpu.cfs_quota_us',
      'memory/runtime/memory.limit_in_bytes',
      'pids/runtime/pids.max',
    ];
    expect(await Promise.all(files.map(read))).toEqual(['512', '7', String(64 * 1024 ** 2), '100']);
  });

  it('are a problem of the node if the cgroup is missing', async () => {
    const { events, recorder } = recorded();
    const config = { enforceNodeAllocatable: ['system-reserved'], systemReserved: reserved, systemReservedCgroup: '/missing' };
    const message = 'Failed to enforce System Reserved Cgroup Limits on "/missing": "/missing" cgroup does not exist';
    await expect(enforceReservedCgroups(config, { tree: new UnifiedTree(mount), recorder, nodeName: 'n' })).rejects.toThrow(message);
    expect(events).toEqual([`FailedNodeAllocatableEnforcement: ${message}`]);
  });
});
