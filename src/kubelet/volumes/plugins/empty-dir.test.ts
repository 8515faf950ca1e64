import { describe, expect, it } from 'vitest';
import type { core } from '#api';
import { hugePageSize } from './empty-dir.ts';

const podWith = (...limits: readonly string[]): core.Pod => ({
  metadata: { name: 'p' },
  spec: { containers: limits.map((name) => ({ name: 'c', resources: { limits: { [name]: '2Mi' } } })) },
});

describe('the page size of an emptyDir in huge pages', () => {
  it.each([
    ['HugePages', podWith('hugepages-2Mi'), '2Mi'],
    ['HugePages-1Gi', podWith('hugepages-2Mi', 'hugepages-1Gi'), '1Gi'],
  ])('of medium %s is that of the request', (medium, pod, size) => {
    expect(hugePageSize(pod, medium)).toBe(size);
  });

  const missing = 'hugePages storage requested, but there is no resource request for huge pages';
  it.each([
    ['HugePages', podWith('cpu'), `medium HugePages: ${missing}`],
    ['HugePages-1Gi', podWith('hugepages-2Mi'), `medium HugePages-1Gi: ${missing}`],
    [
      'HugePages',
      podWith('hugepages-2Mi', 'hugepages-1Gi'),
      "medium: HugePages can't be used if container requests multiple huge page sizes",
    ],
    ['Flash', podWith(), 'unknown storage medium "Flash"'],
  ])('of medium %s that the pod does not request is an error in upstream’s words', (medium, pod, message) => {
    expect(() => hugePageSize(pod, medium)).toThrow(message);
  });
});
