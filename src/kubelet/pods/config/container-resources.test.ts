import { expect, test } from 'vitest';
import type { core } from '#api';
import { podLimits } from '../../cgroups/cgroup-limits.ts';
import { containerResources, sandboxResources } from './container-resources.ts';

const container = { name: 'c', resources: { limits: { cpu: '500m', memory: '1Mi' }, requests: { cpu: '250m', memory: '1Mi' } } };
const pod: core.Pod = { metadata: { name: 'p' }, spec: { containers: [container] }, status: { qosClass: 'Burstable' } };
const facts = { memoryCapacityBytes: 1024 ** 3, hugePageSizes: [] };

test('a CPU limit becomes a CFS quota', () => {
  expect(containerResources(pod, container, facts)).toMatchObject({ cpuShares: 256, cpuQuota: 50_000, cpuPeriod: 100_000 });
  expect(containerResources(pod, container, { ...facts, cpuQuotaPeriodUs: 10_000 })).toMatchObject({ cpuQuota: 5000, cpuPeriod: 10_000 });
});

test('limits of CPU are not enforced where that is turned off; those of memory are', () => {
  const resources = containerResources(pod, container, { ...facts, cpuQuotaPeriodUs: 0 });
  expect([resources.cpuQuota, resources.cpuPeriod, resources.memoryLimitInBytes]).toEqual([undefined, undefined, 1024 ** 2]);
  expect(podLimits(pod, { enforcesCpuLimits: false })).toEqual({ cpuShares: 256, memoryBytes: 1024 ** 2 });
  expect(podLimits(pod, {})).toEqual({ cpuShares: 256, memoryBytes: 1024 ** 2, cpuQuotaUs: 50_000 });
});

test('a container with exclusive CPUs has no CPU quota', () => {
  const exclusive = { ...facts, hasExclusiveCpus: (_: string, name: string) => name === 'c' };
  expect(containerResources(pod, container, exclusive)).toMatchObject({ cpuQuota: -1, cpuPeriod: 100_000 });
  expect(containerResources(pod, { ...container, name: 'd' }, exclusive)).toMatchObject({ cpuQuota: 50_000 });
});

test('cgroup v2 files are the limit of swap and whether the whole container is killed', () => {
  const swap = { behavior: 'NoSwap', cgroupVersion: 2, swapCapacityBytes: 1024 } as const;
  expect(containerResources(pod, container, facts).unified).toBeUndefined();
  expect(containerResources(pod, container, { ...facts, killsOomGroup: true }).unified).toEqual({ 'memory.oom.group': '1' });
  expect(containerResources(pod, container, { ...facts, killsOomGroup: true, swap }).unified).toEqual({
    'memory.oom.group': '1',
    'memory.swap.max': '0',
  });
});

test('huge pages are limited to what the container or its pod has, the other sizes to none', () => {
  const machine = { ...facts, hugePageSizes: ['2MB', '1GB'] };
  const own = { ...container, resources: { limits: { 'hugepages-2Mi': '4Mi' } } };
  const owner = { ...pod, spec: { containers: [own], resources: { limits: { 'hugepages-2Mi': '8Mi', 'hugepages-1Gi': '1Gi' } } } };
  expect(containerResources(pod, container, machine).hugepageLimits).toEqual([
    { pageSize: '2MB', limit: 0 },
    { pageSize: '1GB', limit: 0 },
  ]);
  expect(containerResources(owner, own, machine).hugepageLimits).toEqual([
    { pageSize: '2MB', limit: 4 * 1024 ** 2 },
    { pageSize: '1GB', limit: 1024 ** 3 },
  ]);
});

test('a sandbox is sized by what all containers have, and by the overhead of the pod', () => {
  const two = { ...pod.spec, containers: [container, { ...container, name: 'd' }] };
  const sum = { cpuShares: 512, cpuQuota: 100_000, cpuPeriod: 100_000, memoryLimitInBytes: 2 * 1024 ** 2 };
  expect(sandboxResources({ ...pod, spec: two }, facts)).toEqual({ resources: sum });
  expect(sandboxResources({ ...pod, spec: { ...two, overhead: { cpu: '250m', memory: '64Mi' } } }, facts)).toEqual({
    resources: sum,
    overhead: { cpuShares: 256, cpuQuota: 25_000, cpuPeriod: 100_000, memoryLimitInBytes: 64 * 1024 ** 2 },
  });
});

test('a sandbox of containers without requests and limits has the smallest share of CPU and no limit', () => {
  const bare = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c' }] } };
  expect(sandboxResources(bare, facts)).toEqual({ resources: { cpuShares: 2, cpuQuota: 0, cpuPeriod: 100_000 } });
});
