import { describe, expect, test } from 'vitest';
import type { KubeletConfiguration } from '../configuration/kubelet-configuration.ts';
import { nodeAllocatable, podsLimit, reservationsOf } from './node-allocatable.ts';

const GI = 2 ** 30;
const CAPACITY = { cpu: '4', memory: '8Gi', 'ephemeral-storage': '100Gi', pods: '110' };

describe('node allocatable', () => {
  test.each<[string, KubeletConfiguration, object]>([
    ['everything when nothing is reserved', {}, CAPACITY],
    [
      'what both reservations leave',
      { systemReserved: { cpu: '500m', memory: '1Gi' }, kubeReserved: { cpu: '500m', 'ephemeral-storage': '10Gi', pid: '1000' } },
      { ...CAPACITY, cpu: '3', memory: '7Gi', 'ephemeral-storage': '90Gi' },
    ],
    [
      'what lies before the thresholds of eviction, amounts and shares',
      { evictionHard: { 'memory.available': '1Gi', 'nodefs.available': '10%', 'imagefs.available': '15%' } },
      { ...CAPACITY, memory: '7Gi', 'ephemeral-storage': '90Gi' },
    ],
    [
      'processors that are not reserved by number',
      { reservedSystemCPUs: '0,2-3', kubeReserved: { cpu: '100m' } },
      { ...CAPACITY, cpu: '1' },
    ],
  ])('is %s', (_, configuration, expected) => {
    const { evictionHard = {} } = configuration;
    expect(nodeAllocatable(CAPACITY, reservationsOf({ configuration, evictionHard }))).toEqual(expected);
  });

  test('does not contain the memory of huge pages', () => {
    expect(nodeAllocatable({ ...CAPACITY, 'hugepages-2Mi': '2Gi' }, reservationsOf({}))).toMatchObject({ memory: '6Gi' });
  });

  test('is enforced without the hard eviction thresholds', () => {
    const configuration = { kubeReserved: { memory: '1Gi' } };
    const evictionHard = { 'memory.available': '1Gi' };
    expect(podsLimit(CAPACITY, reservationsOf({ configuration, evictionHard }))).toEqual({ milliCpu: 4000, memoryBytes: 7 * GI });
  });

  test('is the whole capacity where nothing is enforced', () => {
    const configuration = { kubeReserved: { memory: '1Gi' }, enforceNodeAllocatable: ['none'] };
    expect(podsLimit(CAPACITY, reservationsOf({ configuration }))).toEqual({ milliCpu: 4000, memoryBytes: 8 * GI });
  });

  test('is never negative', () => {
    expect(() => nodeAllocatable(CAPACITY, reservationsOf({ configuration: { kubeReserved: { cpu: '5' } } }))).toThrow(
      'invalid Node Allocatable configuration. Resource "cpu" has a reservation of 5 but capacity of 4. Expected capacity >= reservation.',
    );
  });
});
