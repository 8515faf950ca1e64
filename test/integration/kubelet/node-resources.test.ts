import os from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { core } from '#api';
import { GrpcClient, realClock } from '#base';
import { podResources } from '#kubelet';
import { openRealKubelet, type RealKubelet, whyNoContainers } from './real-kubelet.ts';
import { TestDevicePlugin } from './test-device-plugin.ts';

const reason = whyNoContainers() ?? (os.availableParallelism() < 2 ? 'the machine has one processor' : undefined);
if (reason !== undefined) console.info(`processors and devices of real containers are skipped: ${reason}`);

const POLL = { timeout: 40_000, interval: 100 };
const container = (resources: Record<string, string>) => ({
  ...{ name: 'c', image: 'busybox:1', command: ['sleep', '100000'] },
  resources: { limits: resources, requests: resources },
});
const allowedCpus = async (node: RealKubelet, pod: string) =>
  (await node.exec(pod, 'grep', 'Cpus_allowed_list', '/proc/self/status')).split('\t')[1] ?? '';

/** The pod resources API, by which monitoring reads device assignments. */
function podResourcesClient(node: RealKubelet) {
  const endpoint = `unix://${path.join(node.directory, 'kubelet/pod-resources/kubelet.sock')}`;
  const client = new GrpcClient({ endpoint, clock: realClock });
  const call = { timeoutMs: 5000 };
  return {
    get: async (podName: string) =>
      (await client.unary(podResources.GetPodResources, { podName, podNamespace: 'default' }, call)).podResources,
    allocatable: () => client.unary(podResources.GetAllocatableResources, {}, call),
    [Symbol.asyncDispose]: async () => client.close(),
  };
}

describe.skipIf(reason !== undefined)('a real node', () => {
  it('gives guaranteed pods processors of their own, takes them from the others, and remembers that across a restart', async () => {
    await using node = await openRealKubelet({ cpuManagerPolicy: 'static', configuration: { kubeReserved: { cpu: '1' } } });
    await node.run('shared');
    const before = await allowedCpus(node, 'shared');
    await node.run('own', { containers: [container({ cpu: '1', memory: '32Mi' })] });
    const own = await allowedCpus(node, 'own');
    expect(own).toMatch(/^\d+$/);
    await expect.poll(() => allowedCpus(node, 'shared'), POLL).not.toBe(before);
    expect((await allowedCpus(node, 'shared')).split(',')).not.toContain(own);
    await node.stop();
    await node.start();
    await node.client.of(core.Pod).delete({ name: 'own', namespace: 'default' });
    await expect.poll(() => allowedCpus(node, 'shared'), POLL).toBe(before);
  });

  it('gives containers the devices of plugins, shows them on the node, and follows their health', async () => {
    await using node = await openRealKubelet();
    const directory = path.join(node.directory, 'kubelet/device-plugins');
    const amounts = async () => {
      const { capacity, allocatable } = (await node.node()).status ?? {};
      return [capacity?.['example.com/test'], allocatable?.['example.com/test']];
    };
    const health = async () => {
      const [assigned] = (await node.pod('user')).status?.containerStatuses?.[0]?.allocatedResourcesStatus ?? [];
      return Object.fromEntries((assigned?.resources ?? []).map(({ resourceID, health: state }) => [resourceID, state]));
    };
    const devices = ['a', 'b', 'c'];
    const options = { resourceName: 'example.com/test', directory, devices };
    {
      await using plugin = new TestDevicePlugin(options);
      await plugin.start();
      await expect.poll(amounts, POLL).toEqual(['3', '3']);
      await node.run('user', { containers: [container({ 'example.com/test': '2', cpu: '10m', memory: '16Mi' })] });
      expect(plugin.calls).toEqual(['allocate b,c', 'prestart b,c']);
      expect(await node.exec('user', 'sh', '-c', 'echo $TEST_DEVICES; test -c /dev/test-null && echo there')).toBe('b,c\nthere');
      await node.create('greedy', { containers: [container({ 'example.com/test': '2', cpu: '10m', memory: '16Mi' })] });
      await expect.poll(() => node.phase('greedy'), POLL).toBe('Failed');
      expect((await node.pod('greedy')).status).toMatchObject({
        reason: 'UnexpectedAdmissionError',
        message:
          'Pod was rejected: Allocate failed due to requested number of devices unavailable for example.com/test. Requested: 2, Available: 1, which is unexpected',
      });
      await using api = podResourcesClient(node);
      const assigned = [
        { resourceName: 'example.com/test', deviceIds: ['b'] },
        { resourceName: 'example.com/test', deviceIds: ['c'] },
      ];
      expect(await api.get('user')).toMatchObject({ name: 'user', namespace: 'default', containers: [{ name: 'c', devices: assigned }] });
      await expect(api.get('none')).rejects.toThrow('pod none in namespace default not found');
      const offered = (await api.allocatable()).devices.flatMap(({ deviceIds }) => deviceIds);
      expect(offered.toSorted()).toEqual(devices);
      plugin.setHealth('a', 'Unhealthy');
      await expect.poll(amounts, POLL).toEqual(['3', '2']);
      await expect.poll(health, POLL).toEqual({ b: 'Healthy', c: 'Healthy' });
      plugin.setHealth('b', 'Unhealthy');
      await expect.poll(health, POLL).toEqual({ b: 'Unhealthy', c: 'Healthy' });
    }
    await expect.poll(health, POLL).toEqual({ b: 'Unknown', c: 'Unknown' });
    await expect.poll(amounts, POLL).toEqual(['3', '0']);
    await node.stop();
    await node.start();
    expect(await amounts()).toEqual(['3', '0']);
    await using again = new TestDevicePlugin(options);
    await again.start();
    await expect.poll(amounts, POLL).toEqual(['3', '3']);
    // The pod from before the restart still has b and c.
    await node.run('last', { containers: [container({ 'example.com/test': '1', cpu: '10m', memory: '16Mi' })] });
    expect(again.calls).toEqual(['allocate a', 'prestart a']);
  });
});
