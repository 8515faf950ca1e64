import { expect, it } from 'vitest';
import type { core } from '#api';
import { podLimits } from '../cgroups/cgroup-limits.ts';
import { podResources } from './pod-resources.ts';

const resources = (memory: string) => ({ requests: { memory }, limits: { memory } });
const container = { name: 'c', image: 'i', imageID: '', ready: true, restartCount: 0, allocatedResources: { memory: '64Mi' } };
/** As it is while a resize to less is performed: the status is of before. */
const shrinking = (status: Partial<core.PodStatus> = {}): core.Pod => ({
  metadata: { name: 'p', uid: 'u' },
  spec: { containers: [{ name: 'c', resources: resources('16Mi') }] },
  status: { ...{ qosClass: 'Burstable', containerStatuses: [{ ...container, resources: resources('64Mi') }] }, ...status },
});

it('a pod that was resized to less has the limit of its spec, whatever its status says', () => {
  expect(podLimits(shrinking(), {}).memoryBytes).toBe(16 * 1024 * 1024);
});

it('the resources of a pod are those of its spec, whatever its status says', () => {
  expect(podResources(shrinking())).toEqual({ resources: resources('16Mi'), allocatedResources: { memory: '16Mi' } });
});

it('the resources of a pod are those its containers have, if a resize is not done yet', () => {
  const actual = { ...shrinking(), spec: { containers: [{ name: 'c', resources: resources('64Mi') }] } };
  expect(podResources(shrinking(), actual)).toEqual({ resources: resources('64Mi'), allocatedResources: { memory: '16Mi' } });
});
