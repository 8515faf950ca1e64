import { describe, expect, it } from 'vitest';
import type { core } from '#api';
import { memoryVolumeSize } from './memory-size.ts';

const container = (memory?: string, restartPolicy?: string): core.Container =>
  ({ name: 'c', ...(memory && { resources: { limits: { memory } } }), ...(restartPolicy && { restartPolicy }) }) as core.Container;
const pod = (containers: readonly core.Container[], initContainers: readonly core.Container[] = []): core.Pod =>
  ({ metadata: { name: 'p' }, spec: { containers, initContainers } }) as core.Pod;

describe('the size of a volume in memory', () => {
  it.each<[string, core.Pod, string | undefined, string | undefined, number | undefined]>([
    ['is unlimited where nothing limits it', pod([container()]), undefined, undefined, undefined],
    ['is what the node has', pod([container()]), undefined, '1Gi', 2 ** 30],
    ['is its limit', pod([container()]), '1Mi', '1Gi', 2 ** 20],
    ['is no more than the containers may use', pod([container('48Mi')]), '1Gi', '2Gi', 48 * 2 ** 20],
    [
      'does not heed one container that has a limit, when another has none',
      pod([container('48Mi'), container()]),
      undefined,
      '1Gi',
      2 ** 30,
    ],
    ['adds up containers', pod([container('1Mi'), container('2Mi')]), undefined, '1Gi', 3 * 2 ** 20],
    ['counts the largest init container', pod([container('1Mi')], [container('9Mi')]), undefined, '1Gi', 9 * 2 ** 20],
    ['counts sidecars', pod([container('1Mi')], [container('3Mi', 'Always'), container('1Mi')]), undefined, '1Gi', 4 * 2 ** 20],
  ])('%s', (_name, of, sizeLimit, allocatable, expected) => {
    expect(memoryVolumeSize(of, sizeLimit, allocatable)).toBe(expected);
  });
});
