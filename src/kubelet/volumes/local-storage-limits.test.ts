import { describe, expect, it } from 'vitest';
import type { core } from '#api';
import { localStorageExcess } from './local-storage-limits.ts';

const pod = (volumes: readonly core.Volume[], limit?: string): core.Pod =>
  ({
    metadata: { name: 'p' },
    spec: { volumes, containers: [{ name: 'c', ...(limit && { resources: { limits: { 'ephemeral-storage': limit } } }) }] },
  }) as core.Pod;
const MEBI = 2 ** 20;
const usage = (volume: number, container = 0) => ({ volumes: new Map([['v', volume]]), containers: new Map([['c', container]]) });

describe('what a pod has written', () => {
  it.each<[string, core.Pod, ReturnType<typeof usage>, string | undefined]>([
    ['may fill an emptyDir up to its limit', pod([{ name: 'v', emptyDir: { sizeLimit: '1Mi' } }]), usage(MEBI), undefined],
    [
      'may not be more than the limit of an emptyDir',
      pod([{ name: 'v', emptyDir: { sizeLimit: '1Mi' } }]),
      usage(MEBI + 1),
      'Usage of EmptyDir volume "v" exceeds the limit "1Mi". ',
    ],
    [
      'may not be more than all containers may write',
      pod([{ name: 'v', emptyDir: {} }], '1Mi'),
      usage(MEBI, 1),
      'Pod ephemeral local storage usage exceeds the total limit of containers 1Mi. ',
    ],
    ['does not count what is in memory', pod([{ name: 'v', emptyDir: { medium: 'Memory' } }], '1Mi'), usage(2 * MEBI), undefined],
    ['is not limited without a limit', pod([{ name: 'v', emptyDir: {} }]), usage(2 ** 40, 2 ** 40), undefined],
  ])('%s', (_name, of, used, expected) => {
    expect(localStorageExcess(of, used)).toBe(expected);
  });
});
