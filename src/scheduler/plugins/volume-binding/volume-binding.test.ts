import { describe, expect, test } from 'vitest';
import type { core, storage } from '#api';
import { node, outcome, place, pod } from '../../placement.test-data.ts';

const HOST = 'kubernetes.io/hostname';
const ZONE = 'topology.kubernetes.io/zone';
const using = (...claims: string[]) =>
  pod('p', { spec: { volumes: claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })) } });

function storageClass(mode: string, provisioner = 'kubernetes.io/no-provisioner'): storage.StorageClass {
  return { metadata: { name: 'sc' }, provisioner, volumeBindingMode: mode } as storage.StorageClass;
}

function claim(name: string, { size = '1Gi', boundTo = '' } = {}): core.PersistentVolumeClaim {
  const annotations = boundTo === '' ? {} : { 'pv.kubernetes.io/bind-completed': 'yes' };
  const spec = {
    storageClassName: 'sc',
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: size } },
    ...(boundTo && { volumeName: boundTo }),
  };
  return { metadata: { name, namespace: 'default', uid: name, annotations }, spec } as unknown as core.PersistentVolumeClaim;
}

function volume(name: string, { size = '1Gi', on = '', zone = '' } = {}): core.PersistentVolume {
  const required = { nodeSelectorTerms: [{ matchExpressions: [{ key: HOST, operator: 'In', values: [on] }] }] };
  const spec = {
    capacity: { storage: size },
    storageClassName: 'sc',
    accessModes: ['ReadWriteOnce'],
    ...(on && { nodeAffinity: { required } }),
  };
  return {
    metadata: { name, ...(zone && { labels: { [ZONE]: zone } }) },
    spec,
    status: { phase: 'Available' },
  } as unknown as core.PersistentVolume;
}

const WAITS = [storageClass('WaitForFirstConsumer')];
const nodes = [node('a', { labels: { [ZONE]: 'z1' } }), node('b', { labels: { [ZONE]: 'z2' } })];

const olderZone = node('a', { labels: { 'failure-domain.beta.kubernetes.io/zone': 'z1' } });

function promised(claimObject: core.PersistentVolumeClaim, to: string): core.PersistentVolumeClaim {
  return { ...claimObject, metadata: { ...claimObject.metadata, annotations: { 'volume.kubernetes.io/selected-node': to } } };
}

describe('volumes', () => {
  test.each([
    {
      name: 'an unbound claim that does not wait for a pod must be bound first',
      incoming: using('c'),
      state: { storageClasses: [storageClass('Immediate')], claims: [claim('c')] },
      expected: /unbound immediate PersistentVolumeClaims/,
    },
    {
      name: 'a claim that waits is bound where a volume is',
      incoming: using('c'),
      state: { storageClasses: WAITS, claims: [claim('c')], volumes: [volume('v', { on: 'b' })] },
      expected: /^b$/,
    },
    {
      name: 'a volume that is too small is none',
      incoming: using('c'),
      state: { storageClasses: WAITS, claims: [claim('c', { size: '2Gi' })], volumes: [volume('v', { on: 'b' })] },
      expected: /: 2 node\(s\) didn't find available persistent volumes to bind\./,
    },
    {
      name: 'two claims need two volumes on one node',
      incoming: using('c', 'd'),
      state: {
        storageClasses: WAITS,
        claims: [claim('c'), claim('d')],
        volumes: [volume('u', { on: 'a' }), volume('v', { on: 'b' }), volume('w', { on: 'b' })],
      },
      expected: /^b$/,
    },
    {
      name: 'a driver can make a volume anywhere',
      incoming: using('c'),
      state: { storageClasses: [storageClass('WaitForFirstConsumer', 'example.com/csi')], claims: [claim('c')] },
      expected: /^[ab]$/,
    },
    {
      name: 'a bound volume ties the pod to its node',
      incoming: using('c'),
      state: { claims: [claim('c', { boundTo: 'v' })], volumes: [volume('v', { on: 'a' })] },
      expected: /^a$/,
    },
    {
      name: 'a bound volume whose node is gone',
      incoming: using('c'),
      state: { claims: [claim('c', { boundTo: 'v' })], volumes: [volume('v', { on: 'x' })] },
      expected: /: 2 node\(s\) didn't match PersistentVolume's node affinity\./,
    },
    {
      name: 'a volume that is gone',
      incoming: using('c'),
      state: { claims: [claim('c', { boundTo: 'v' })] },
      expected: /persistentvolume "v" not found|bound to non-existent pv/,
    },
    {
      name: 'the zone of a volume',
      incoming: using('c'),
      state: { claims: [claim('c', { boundTo: 'v' })], volumes: [volume('v', { zone: 'z2__z3' })] },
      expected: /^b$/,
    },
    {
      name: 'no node in the zone of a volume',
      incoming: using('c'),
      state: { claims: [claim('c', { boundTo: 'v' })], volumes: [volume('v', { zone: 'z9' })] },
      expected: /: 2 node\(s\) had no available volume zone\./,
    },
    {
      name: 'all that is wrong with the volumes of a pod is told',
      incoming: using('c', 'd'),
      state: { storageClasses: WAITS, claims: [claim('c', { boundTo: 'v' }), claim('d')], volumes: [volume('v', { on: 'x' })] },
      expected:
        /: 2 node\(s\) didn't find available persistent volumes to bind, 2 node\(s\) didn't match PersistentVolume's node affinity\./,
    },
    {
      name: 'a claim that was promised to a node is served there only',
      incoming: using('c'),
      state: { storageClasses: [storageClass('WaitForFirstConsumer', 'example.com/csi')], claims: [promised(claim('c'), 'b')] },
      expected: /^b$/,
    },
    {
      name: 'a claim that happens to have the name of that of an ephemeral volume',
      incoming: pod('p', { spec: { volumes: [{ name: 'v', ephemeral: {} }] as core.Volume[] } }),
      state: { storageClasses: WAITS, claims: [claim('p-v')], volumes: [volume('v', { on: 'b' })] },
      expected: /: PVC default\/p-v was not created for pod default\/p \(pod is not owner\)\. not found$/,
    },
    {
      name: 'a zone label that replaced an older one is not found under the older one',
      incoming: using('c'),
      state: { nodes: [olderZone], claims: [claim('c', { boundTo: 'v' })], volumes: [volume('v', { zone: 'z1' })] },
      expected: /: 1 node\(s\) had no available volume zone\./,
    },
  ])('$name', ({ incoming, state, expected }) => {
    expect(outcome(place(incoming, { nodes, ...state }))).toMatch(expected);
  });

  describe('of a driver that says how much room it has', () => {
    const csiDrivers = [{ metadata: { name: 'd' }, spec: { storageCapacity: true } }] as storage.CSIDriver[];
    const capacity = (zone: string, figures: object) =>
      ({
        ...{ metadata: { name: `${zone}-room`, namespace: 'kube-system' }, storageClassName: 'sc' },
        ...{ nodeTopology: { matchLabels: { [ZONE]: zone } }, ...figures },
      }) as storage.CSIStorageCapacity;
    const placed = (csiStorageCapacities: readonly storage.CSIStorageCapacity[], drivers = csiDrivers) => {
      const storageClasses = [storageClass('WaitForFirstConsumer', 'd')];
      return outcome(place(using('c'), { nodes, storageClasses, claims: [claim('c')], csiDrivers: drivers, csiStorageCapacities }));
    };

    test('are made where there is enough', () => {
      expect(placed([capacity('z1', { capacity: '1Mi' }), capacity('z2', { capacity: '2Gi' })])).toBe('b');
    });

    test('are made nowhere when no place has enough, or one volume may not be as large', () => {
      const tooSmall = [capacity('z1', { capacity: '1Mi' }), capacity('z2', { capacity: '2Gi', maximumVolumeSize: '1Mi' })];
      for (const capacities of [tooSmall, []]) expect(placed(capacities)).toContain('2 node(s) did not have enough free storage');
    });

    test('are made anywhere when it does not say so', () => {
      expect(placed([], [])).toMatch(/^[ab]$/);
    });
  });

  test('no more volumes than the driver can attach', () => {
    const csi = (name: string) =>
      ({ ...volume(name), spec: { ...volume(name).spec, csi: { driver: 'd', volumeHandle: name } } }) as core.PersistentVolume;
    const csiNode = {
      metadata: { name: 'a' },
      spec: { drivers: [{ name: 'd', nodeID: 'a', allocatable: { count: 1 } }] },
    } as storage.CSINode;
    const other = pod('x', { on: 'a', spec: { nodeName: 'a', volumes: [{ name: 'd', persistentVolumeClaim: { claimName: 'd' } }] } });
    const state = {
      nodes: [node('a')],
      csiNodes: [csiNode],
      pods: [other],
      claims: [claim('c', { boundTo: 'v' }), claim('d', { boundTo: 'w' })],
      volumes: [csi('v'), csi('w')],
    };
    expect(outcome(place(using('c'), state))).toContain('1 node(s) exceed max volume count');
    const attachment = { metadata: { name: 'x' }, spec: { attacher: 'd', nodeName: 'a', source: { persistentVolumeName: 'w' } } };
    const volumeAttachments = [attachment as unknown as storage.VolumeAttachment];
    expect(outcome(place(using('c'), { ...state, pods: [], volumeAttachments }))).toContain('1 node(s) exceed max volume count');
    expect(outcome(place(using('c'), { ...state, pods: [] }))).toBe('a');
  });
});
