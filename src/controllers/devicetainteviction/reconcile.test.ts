import { describe, expect, it } from 'vitest';
import type { core, resource } from '#api';
import { evictionTime } from './reconcile.ts';

const ADDED = '2026-01-01T00:00:00Z';
const AT = Date.parse(ADDED);
const TAINT: resource.DeviceTaint = { key: 'k', value: 'v', effect: 'NoExecute', timeAdded: ADDED };

function slice(taints: readonly resource.DeviceTaint[], generation = 1): resource.ResourceSlice {
  const pool = { name: 'p', generation, resourceSliceCount: 1 };
  return { metadata: { name: `s${generation}` }, spec: { driver: 'd', pool, devices: [{ name: 'gpu', taints: [...taints] }] } };
}

function claim(tolerations: readonly resource.DeviceToleration[] = [], reserved = 'u'): resource.ResourceClaim {
  const results = [{ request: 'r', driver: 'd', pool: 'p', device: 'gpu', tolerations: [...tolerations] }];
  const reservedFor = [{ resource: 'pods', name: 'p', uid: reserved }];
  return { metadata: { name: 'c', namespace: 'n' }, spec: { devices: {} }, status: { allocation: { devices: { results } }, reservedFor } };
}

function pod(nodeName = 'x'): core.Pod {
  return {
    metadata: { name: 'p', namespace: 'n', uid: 'u' },
    spec: { containers: [], nodeName, resourceClaims: [{ name: 'g', resourceClaimName: 'c' }] },
  };
}

const view = (of: resource.ResourceClaim, ...slices: readonly resource.ResourceSlice[]) => ({
  claim: (name: string) => (name === 'c' ? of : undefined),
  slices: (pool: string) => (pool === 'd/p' ? slices : []),
});

describe('a pod with a device', () => {
  it.each<[string, resource.ResourceClaim, readonly resource.ResourceSlice[], number | undefined]>([
    ['stays while the device is sound', claim(), [slice([])], undefined],
    ['stays when the device is only not for others', claim(), [slice([{ ...TAINT, effect: 'NoSchedule' }])], undefined],
    ['stays when nobody publishes the device', claim(), [], undefined],
    ['goes as soon as it is tainted', claim(), [slice([TAINT])], AT],
    ['stays with what its claim tolerates', claim([{ key: 'k', operator: 'Exists', effect: 'NoExecute' }]), [slice([TAINT])], undefined],
    [
      'goes when its claim tolerates no more',
      claim([{ key: 'k', operator: 'Equal', value: 'v', effect: 'NoExecute', tolerationSeconds: 60 }]),
      [slice([TAINT])],
      AT + 60_000,
    ],
    ['goes when its claim tolerates something else', claim([{ key: 'k', value: 'w', effect: 'NoExecute' }]), [slice([TAINT])], AT],
    ['stays when the taint is of an older generation', claim(), [slice([TAINT], 1), slice([], 2)], undefined],
    ['stays when the claim is reserved for another', claim([], 'other'), [slice([TAINT])], undefined],
  ])('%s', (_name, of, slices, expected) => {
    expect(evictionTime(pod(), view(of, ...slices))).toBe(expected);
  });

  it('is not looked at before it is on a node', () => {
    expect(evictionTime(pod(''), view(claim(), slice([TAINT])))).toBeUndefined();
  });
});
