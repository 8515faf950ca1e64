import { mkdir, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { core } from '#api';
import { runProgram } from '#base';
import { findCondition } from '#machinery';
import { startCluster } from '#testing';
import { openRealKubelet, whyNoContainers } from './real-kubelet.ts';

const MI = 1024 ** 2;
const GI = 1024 ** 3;
const reason = whyNoContainers();
if (reason !== undefined) console.info(`eviction on a real node is skipped: ${reason}`);

const POD = (name: string, extra = '') => `
apiVersion: v1
kind: Pod
metadata: { name: ${name}, namespace: default }
spec: { containers: [{ name: c, image: app:1${extra} }] }
`;

describe('a simulated node that runs short', () => {
  it('evicts the pod that uses most beyond its request, is tainted, and recovers', async () => {
    await using cluster = await startCluster({ nodes: 1, clock: 'virtual' });
    await cluster.apply(`${POD('modest', ', resources: { requests: { memory: 1Gi } }')}---${POD('greedy')}---${POD('small')}`);
    const pods = cluster.client.of(core.Pod);
    const statusOf = async (name: string) => (await pods.get({ name, namespace: 'default' })).status;
    const phases = async () => Promise.all(['modest', 'greedy', 'small'].map(async (name) => (await statusOf(name))?.phase));
    await cluster.waitFor(async () => (await phases()).every((phase) => phase === 'Running'));
    const usage = (bytes: number) => ({ memoryBytes: bytes, containers: [{ name: 'c', memoryBytes: bytes }] });
    const uses = { 'default/modest': usage(GI / 2), 'default/greedy': usage(300 * MI), 'default/small': usage(10 * MI) };
    const node = cluster.node('n1');
    const isFreed = () => node.pods.some(({ metadata, status }) => metadata.name === 'greedy' && status?.phase === 'Failed');
    node.setUsage(() => ({
      signals: { 'memory.available': { capacity: 4 * GI, available: (isFreed() ? 360 : 60) * MI } },
      pods: uses,
    }));
    await cluster.waitFor(async () => (await statusOf('greedy'))?.phase === 'Failed');
    expect(await cluster.clock.until(phases())).toEqual(['Running', 'Failed', 'Running']);
    const message =
      'The node was low on resource: memory. Threshold quantity: 100Mi, available: 60Mi. Container c was using 300Mi, request is 0, has larger consumption of memory. ';
    const status = await cluster.clock.until(statusOf('greedy'));
    expect(status).toMatchObject({ reason: 'Evicted', message });
    expect(findCondition(status?.conditions, 'DisruptionTarget')).toMatchObject({
      status: 'True',
      reason: 'TerminationByKubelet',
      message,
    });
    const read = () => cluster.client.of(core.Node).get({ name: 'n1' });
    const pressure = async () => findCondition((await read()).status?.conditions, 'MemoryPressure')?.status;
    const taints = async () => ((await read()).spec?.taints ?? []).map(({ key }) => key);
    expect(await cluster.clock.until(pressure())).toBe('True');
    await cluster.waitFor(async () => (await taints()).includes('node.kubernetes.io/memory-pressure'));
    await cluster.apply(POD('refused').replace('spec: {', 'spec: { nodeName: n1,'));
    await cluster.waitFor(async () => (await statusOf('refused'))?.phase === 'Failed');
    expect(await cluster.clock.until(statusOf('refused'))).toMatchObject({
      reason: 'Evicted',
      message: 'Pod was rejected: The node had condition: [MemoryPressure]. ',
    });
    await cluster.waitFor(async () => (await pressure()) === 'False', { within: '6m' });
    await cluster.waitFor(async () => (await taints()).length === 0);
    const events = await cluster.clock.until(cluster.client.of(core.Event).list());
    const reasons = events.items.map((event) => event.reason);
    expect(reasons).toEqual(
      expect.arrayContaining(['EvictionThresholdMet', 'Evicted', 'NodeHasInsufficientMemory', 'NodeHasSufficientMemory']),
    );
    expect(events.items.find((event) => event.reason === 'Evicted')?.metadata.annotations).toMatchObject({ starved_resource: 'memory' });
  });

  it('evicts when its disk is fuller than the threshold, and not before', async () => {
    await using cluster = await startCluster({ nodes: 1, clock: 'virtual' });
    const node = cluster.node('n1');
    await cluster.apply(POD('p'));
    const pods = cluster.client.of(core.Pod);
    const phase = async () => (await pods.get({ name: 'p', namespace: 'default' })).status?.phase;
    await cluster.waitFor(async () => (await phase()) === 'Running');
    node.setUsage({ signals: { 'nodefs.available': { capacity: 100 * GI, available: 11 * GI } } });
    await cluster.clock.advance('5m');
    expect(await cluster.clock.until(phase())).toBe('Running');
    node.setUsage({ signals: { 'nodefs.available': { capacity: 100 * GI, available: 9 * GI } } });
    await cluster.waitFor(async () => (await phase()) === 'Failed');
  });
});

describe.skipIf(reason !== undefined)('a real node that runs short', () => {
  it('of memory, evicts the pod that fills it before the kernel kills', async () => {
    // Pods may use a small part of this machine: 200Mi, of which 100Mi must stay free.
    await using node = await openRealKubelet({
      capacity: { memory: '1200Mi' },
      configuration: { kubeReserved: { memory: '1000Mi' } },
      evictionHard: { 'memory.available': '100Mi' },
    });
    expect((await node.node()).status?.allocatable?.memory).toBe('100Mi');
    await node.run('quiet', {
      containers: [{ name: 'c', image: 'busybox:1', command: ['sleep', '100000'], resources: { requests: { memory: '50Mi' } } }],
    });
    const fill = 'mkdir /fill; dd if=/dev/zero of=/fill/data bs=1M count=150; sleep 100000';
    await node.create('greedy', {
      containers: [{ name: 'c', image: 'busybox:1', command: ['sh', '-c', fill], volumeMounts: [{ name: 'fill', mountPath: '/fill' }] }],
      volumes: [{ name: 'fill', emptyDir: { medium: 'Memory' } }],
    });
    await expect.poll(() => node.phase('greedy'), { timeout: 60_000, interval: 200 }).toBe('Failed');
    const { status } = await node.pod('greedy');
    expect(status?.reason).toBe('Evicted');
    expect(status?.message).toMatch(
      /^The node was low on resource: memory\. Threshold quantity: 100Mi, available: \S+\. Container c was using /,
    );
    expect(findCondition(status?.conditions, 'DisruptionTarget')?.status).toBe('True');
    expect(await node.phase('quiet')).toBe('Running');
    const condition = findCondition((await node.node()).status?.conditions, 'MemoryPressure');
    expect(condition).toMatchObject({ status: 'True', reason: 'KubeletHasInsufficientMemory' });
    await expect.poll(() => node.events('machine')).toEqual(expect.arrayContaining(['EvictionThresholdMet: Attempting to reclaim memory']));
  });

  it('of disk, removes what nobody needs, then evicts the pod that fills it', async () => {
    const directory = await mkdtemp(path.join(os.tmpdir(), 'small-disk-'));
    const [image, mount] = [path.join(directory, 'image'), path.join(directory, 'mount')];
    await writeFile(image, '');
    await truncate(image, 64 * MI);
    await mkdir(mount);
    await runProgram('mkfs.ext4', ['-q', image]);
    await runProgram('mount', ['-o', 'loop', image, mount]);
    try {
      await using node = await openRealKubelet({
        rootDir: path.join(mount, 'kubelet'),
        evictionHard: { 'nodefs.available': '50%' },
      });
      await node.run('quiet');
      const fill = 'dd if=/dev/zero of=/fill/data bs=1M count=40; sleep 100000';
      await node.create('greedy', {
        containers: [{ name: 'c', image: 'busybox:1', command: ['sh', '-c', fill], volumeMounts: [{ name: 'fill', mountPath: '/fill' }] }],
        volumes: [{ name: 'fill', emptyDir: {} }],
      });
      await expect.poll(() => node.phase('greedy'), { timeout: 60_000, interval: 200 }).toBe('Failed');
      const { status } = await node.pod('greedy');
      expect(status).toMatchObject({
        reason: 'Evicted',
        message: expect.stringContaining('The node was low on resource: ephemeral-storage. '),
      });
      expect(await node.phase('quiet')).toBe('Running');
      expect(findCondition((await node.node()).status?.conditions, 'DiskPressure')?.status).toBe('True');
    } finally {
      await runProgram('umount', [mount]);
      await rm(directory, { recursive: true });
    }
  });
});
