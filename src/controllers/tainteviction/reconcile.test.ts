import { describe, expect, it } from 'vitest';
import type { core } from '#api';
import { noExecuteTaints, toleratedMs } from './reconcile.ts';

const NOT_READY = { key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' };
const GPU = { key: 'gpu', value: 'yes', effect: 'NoExecute' };
const exists = (key: string, tolerationSeconds?: number): core.Toleration => ({
  key,
  operator: 'Exists',
  effect: 'NoExecute',
  ...(tolerationSeconds !== undefined && { tolerationSeconds }),
});

describe('how long a pod stays on a tainted node', () => {
  it.each<[string, core.Taint[], core.Toleration[], number]>([
    ['not at all without a toleration', [NOT_READY], [], 0],
    ['not at all when one of two taints is not tolerated', [NOT_READY, GPU], [exists(NOT_READY.key, 300)], 0],
    ['for ever with a toleration without an end', [NOT_READY], [exists(NOT_READY.key)], Infinity],
    ['for ever when everything is tolerated', [NOT_READY, GPU], [{ operator: 'Exists' }], Infinity],
    ['for as long as it says', [NOT_READY], [exists(NOT_READY.key, 300)], 300_000],
    ['for the shortest of several times', [NOT_READY, GPU], [exists(NOT_READY.key, 300), exists('gpu', 20)], 20_000],
    ['for the time of one when the other has no end', [NOT_READY, GPU], [exists(NOT_READY.key), exists('gpu', 20)], 20_000],
    ['not at all when the time is over before it began', [NOT_READY], [exists(NOT_READY.key, -5)], 0],
    ['by the first toleration that matches', [NOT_READY], [exists(NOT_READY.key, 10), exists(NOT_READY.key)], 10_000],
    ['not at all when the value differs', [GPU], [{ key: 'gpu', value: 'no', effect: 'NoExecute' }], 0],
    ['for ever when the value is equal', [GPU], [{ key: 'gpu', operator: 'Equal', value: 'yes' }], Infinity],
    ['not at all by a toleration of another effect', [GPU], [{ key: 'gpu', operator: 'Exists', effect: 'NoSchedule' }], 0],
  ])('is %s', (_name, taints, tolerations, expected) => {
    expect(toleratedMs(taints, tolerations)).toBe(expected);
  });

  it('depends on taints with the effect NoExecute only', () => {
    const taints = [{ key: 'a', effect: 'NoSchedule' }, GPU, { key: 'b', effect: 'PreferNoSchedule' }];
    expect(noExecuteTaints({ metadata: { name: 'n' }, spec: { taints } })).toEqual([GPU]);
    expect(noExecuteTaints({ metadata: { name: 'n' } })).toEqual([]);
  });
});
