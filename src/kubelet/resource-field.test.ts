import { describe, expect, it } from 'vitest';
import type { core } from '#api';
import { resourceFieldValue } from './resource-field.ts';

const container = {
  name: 'c',
  resources: { requests: { cpu: '125m', memory: '33Mi' }, limits: { cpu: '1250m', memory: '65Mi' } },
} as unknown as core.Container;
const pod = { metadata: { name: 'p' }, spec: { containers: [container] } } as core.Pod;
const allocatable = { cpu: '4', memory: '1Gi', 'ephemeral-storage': '10Gi' };

describe('the value of a resourceFieldRef', () => {
  it.each([
    ['limits.cpu', undefined, '2'],
    ['limits.cpu', '1m', '1250'],
    ['requests.cpu', '1', '1'],
    ['limits.memory', undefined, '68157440'],
    ['limits.memory', '1Gi', '1'],
    ['limits.memory', '1k', '68158'],
    ['requests.memory', '1M', '35'],
    ['requests.ephemeral-storage', undefined, '0'],
    ['limits.ephemeral-storage', '1Gi', '10'],
  ])('of %s in units of %s is %s', (resource, divisor, expected) => {
    expect(resourceFieldValue({ resource, ...(divisor && { divisor }) }, { pod, container, allocatable })).toBe(expected);
  });

  it.each([
    ['limits.cpu', undefined, '1500'],
    ['limits.memory', undefined, '67108864'],
    ['limits.ephemeral-storage', undefined, '10737418240'],
    ['limits.cpu', '250m', '250'],
    ['requests.cpu', undefined, '0'],
  ])('of %s is that of the pod where the container has none (here %s)', (resource, cpu, expected) => {
    const own = { name: 'c', ...(cpu && { resources: { limits: { cpu } } }) } as core.Container;
    const resources = { limits: { cpu: '1500m', memory: '64Mi' }, requests: { cpu: '1' } };
    const whole = { metadata: { name: 'p' }, spec: { containers: [own], resources } } as core.Pod;
    const divisor = resource.endsWith('cpu') ? '1m' : '1';
    expect(resourceFieldValue({ resource, divisor }, { pod: whole, container: own, allocatable })).toBe(expected);
  });

  it('names a container that does not exist', () => {
    expect(() => resourceFieldValue({ containerName: 'x', resource: 'limits.cpu' }, { pod })).toThrow('container x not found');
  });
});
