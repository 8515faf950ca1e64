import { describe, expect, it } from 'vitest';
import type { core } from '#api';
import { localStorageExcess } from './local-storage-limits.ts';

const pod = (volumes: readonly core.Volume[], limit?: string): core.Pod =>
  ({
    metadata: { name: 'p' },
    spec: { volumes, containers: [{ name: 'c', ...(limit && { resources: { limits: { 'ephemeral-storage': limit } } }) }] },
  }) as core.Pod;
const podWithInit = (ofInit: string, limit?: string): core.Pod => {
  const { metadata, spec } = pod([{ name: 'v', emptyDir: {} }], limit);
  const init = { name: 'i', resources: { limits: { 'ephemeral-storage': ofInit } } };
  return { metadata, spec: { ...spec, containers: spec?.containers ?? [], initContainers: [init] } };
};
const MEBI = 2 ** 20;
const usage = (volume: number, layerBytes = 0, logBytes = 0, hasImageFs = false) => ({
  ...{ volumes: new Map([['v', volume]]), containers: new Map([['c', { layerBytes, logBytes }]]), hasImageFs },
});

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
    [
      'counts logs, so that one container may write too much',
      pod([], '1Mi'),
      usage(0, 0, MEBI + 1),
      'Pod ephemeral local storage usage exceeds the total limit of containers 1Mi. ',
    ],
    ['may be as much as the largest init container may write', podWithInit('2Mi'), usage(MEBI, MEBI), undefined],
    [
      'may not be more in logs than one container may write',
      podWithInit('2Mi', '1Mi'),
      usage(0, 0, MEBI + 1, true),
      'Container c exceeded its local ephemeral storage limit "1Mi". ',
    ],
    [
      'does not count layers for the container where they have a file system of their own',
      podWithInit('2Mi', '1Mi'),
      usage(0, 1.5 * MEBI, 0, true),
      undefined,
    ],
    ['does not count what is in memory', pod([{ name: 'v', emptyDir: { medium: 'Memory' } }], '1Mi'), usage(2 * MEBI), undefined],
    ['is not limited without a limit', pod([{ name: 'v', emptyDir: {} }]), usage(2 ** 40, 2 ** 40), undefined],
  ])('%s', (_name, of, used, expected) => {
    expect(localStorageExcess(of, used)).toBe(expected);
  });
});
