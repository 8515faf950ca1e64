import { expect, test } from 'vitest';
import type { core } from '#api';
import { podLimits } from '../../cgroups/cgroup-limits.ts';
import { containerResources } from './container-resources.ts';

const container = { name: 'c', resources: { limits: { cpu: '500m', memory: '1Mi' }, requests: { cpu: '250m', memory: '1Mi' } } };
const pod: core.Pod = { metadata: { name: 'p' }, spec: { containers: [container] }, status: { qosClass: 'Burstable' } };
const facts = { memoryCapacityBytes: 1024 ** 3, hugePageSizes: [] };

test('a limit of CPU is a quota of the period', () => {
  expect(containerResources(pod, container, facts)).toMatchObject({ cpuShares: 256, cpuQuota: 50_000, cpuPeriod: 100_000 });
  expect(containerResources(pod, container, { ...facts, cpuQuotaPeriodUs: 10_000 })).toMatchObject({ cpuQuota: 5000, cpuPeriod: 10_000 });
});

test('limits of CPU are not enforced where that is turned off; those of memory are', () => {
  const resources = containerResources(pod, container, { ...facts, cpuQuotaPeriodUs: 0 });
  expect([resources.cpuQuota, resources.cpuPeriod, resources.memoryLimitInBytes]).toEqual([undefined, undefined, 1024 ** 2]);
  expect(podLimits(pod, { enforcesCpuLimits: false })).toEqual({ cpuShares: 256, memoryBytes: 1024 ** 2 });
  expect(podLimits(pod, {})).toEqual({ cpuShares: 256, memoryBytes: 1024 ** 2, cpuQuotaUs: 50_000 });
});
