import { describe, expect, it } from 'vitest';
import type { core } from '#api';
import { apiReference } from './mirror-pod-references.ts';
import { forbiddenLabels } from './node-labels.ts';

describe('labels that a node may not give itself', () => {
  it.each([
    ['example.com/anything', true],
    ['plain', true],
    ['kubernetes.io/hostname', true],
    ['topology.kubernetes.io/zone', true],
    ['node.kubernetes.io/anything', true],
    ['sub.kubelet.kubernetes.io/anything', true],
    ['node-role.kubernetes.io/control-plane', false],
    ['kubernetes.io/other', false],
    ['x.k8s.io/other', false],
    ['node-restriction.kubernetes.io/x', false],
    ['sub.node-restriction.kubernetes.io/x', false],
  ])('%s: allowed %s', (key, isAllowed) => {
    expect(forbiddenLabels({ [key]: 'v' })).toEqual(isAllowed ? [] : [key]);
    expect(forbiddenLabels({}, { [key]: 'v' })).toEqual(isAllowed ? [] : [key]);
    expect(forbiddenLabels({ [key]: 'v' }, { [key]: 'v' })).toEqual([]);
  });
});

describe('what a mirror pod needs of the API', () => {
  it.each<[string, object, string | undefined]>([
    ['nothing', { volumes: [{ name: 'v', hostPath: { path: '/' } }] }, undefined],
    ['an account', { serviceAccountName: 'a' }, 'serviceaccounts'],
    [
      'a secret of a variable',
      { containers: [{ name: 'c', env: [{ name: 'E', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }] }] },
      'secrets',
    ],
    ['a claim', { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }] }, 'persistentvolumeclaims'],
    [
      'a token',
      { volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: {} }] } }] },
      'serviceaccounts (via projected volumes)',
    ],
    ['only what it knows of itself', { volumes: [{ name: 'v', projected: { sources: [{ downwardAPI: {} }] } }] }, undefined],
    ['a driver', { volumes: [{ name: 'v', csi: { driver: 'd' } }] }, 'csidrivers (via CSI volumes)'],
  ])('%s', (_, spec, expected) => {
    expect(apiReference({ metadata: { name: 'p' }, spec: { containers: [], ...spec } } as unknown as core.Pod)).toBe(expected);
  });
});
