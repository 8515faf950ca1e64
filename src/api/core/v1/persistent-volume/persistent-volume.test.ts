import { describe, expect, test } from 'vitest';
import { persistentVolumeBehaviour } from './persistent-volume.behaviour.ts';
import type { PersistentVolume } from './persistent-volume.ts';
import type { PersistentVolumeSpec } from './persistent-volume-spec.ts';

const behaviour = persistentVolumeBehaviour as Required<typeof persistentVolumeBehaviour>;
const SPEC: PersistentVolumeSpec = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/data' } };
const volume = (spec: Partial<PersistentVolumeSpec> = {}, name = 'v'): PersistentVolume =>
  behaviour.defaults({ metadata: { name }, spec: { ...SPEC, ...spec } });
const errorsOf = (spec: Partial<PersistentVolumeSpec>) => behaviour.validate(volume(spec)).map(String);

test('a minimal volume is valid, and defaults to the reclaim policy Retain', () => {
  expect(errorsOf({})).toEqual([]);
  expect(volume().spec).toEqual({
    capacity: { storage: '1Gi' },
    accessModes: ['ReadWriteOnce'],
    hostPath: { path: '/data', type: '' },
    persistentVolumeReclaimPolicy: 'Retain',
    volumeMode: 'Filesystem',
  });
});

describe('what is refused', () => {
  test.each<[string, Partial<PersistentVolumeSpec>, readonly string[]]>([
    [
      'no capacity',
      { capacity: {} },
      ['spec.capacity: Required value', 'spec.capacity: Unsupported value: {}: supported values: "storage"'],
    ],
    [
      'another capacity than storage',
      { capacity: { cpu: '1' } },
      ['spec.capacity: Unsupported value: {"cpu":"1"}: supported values: "storage"'],
    ],
    ['a capacity of nothing', { capacity: { storage: '0' } }, ['spec.capacity[storage]: Invalid value: "0": must be greater than zero']],
    ['no way to access it', { accessModes: [] }, ['spec.accessModes: Required value']],
    [
      'unknown ways to access it',
      { accessModes: ['ReadSometimes'] },
      [
        'spec.accessModes: Unsupported value: "ReadSometimes": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"',
      ],
    ],
    [
      'one pod and many',
      { accessModes: ['ReadWriteOncePod', 'ReadWriteMany'] },
      ['spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes'],
    ],
    ['no source', { hostPath: undefined } as never, ['spec: Required value: must specify a volume type']],
    ['two sources', { nfs: { server: 's', path: '/x' } }, ['spec.nfs: Forbidden: may not specify more than 1 volume type']],
    [
      'recycling of a host path that is the root',
      { hostPath: { path: '/' }, persistentVolumeReclaimPolicy: 'Recycle' },
      ["spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'"],
    ],
    [
      'an unknown reclaim policy',
      { persistentVolumeReclaimPolicy: 'Burn' },
      ['spec.persistentVolumeReclaimPolicy: Unsupported value: "Burn": supported values: "Delete", "Recycle", "Retain"'],
    ],
    ['an unknown mode', { volumeMode: 'Tape' }, ['spec.volumeMode: Unsupported value: "Tape": supported values: "Block", "Filesystem"']],
    [
      'a local volume without a node',
      { hostPath: undefined, local: { path: '/disk' } } as never,
      ['spec.nodeAffinity: Required value: Local volume requires node affinity'],
    ],
    [
      'a bad class',
      { storageClassName: 'Not A Class' },
      [
        "spec.storageClassName: Invalid value: \"Not A Class\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
      ],
    ],
    [
      'a CSI volume without a handle',
      { hostPath: undefined, csi: { driver: 'd.example.com', volumeHandle: '' } } as never,
      ['spec.csi.volumeHandle: Required value'],
    ],
  ])('%s', (_, spec, errors) => {
    expect(errorsOf(spec)).toEqual(errors);
  });

  test('a source that changes', () => {
    expect(behaviour.validateUpdate(volume({ hostPath: { path: '/other' } }), volume()).map(String)).toEqual([
      'spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation\n@@ -2,7 +2,7 @@\n  "GCEPersistentDisk": null,\n  "AWSElasticBlockStore": null,\n  "HostPath": {\n-  "Path": "/data",\n+  "Path": "/other",\n   "Type": ""\n  },\n  "Glusterfs": null,\n',
    ]);
  });

  test('a node affinity that changes, unless there was none', () => {
    const required = { nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['a'] }] }] };
    const bound = volume({ nodeAffinity: { required } });
    expect(behaviour.validateUpdate(bound, volume()).map(String)).toEqual([]);
    expect(behaviour.validateUpdate(volume({ nodeAffinity: { required: { nodeSelectorTerms: [] } } }), bound).map(String)).toEqual([
      'spec.nodeAffinity.required.nodeSelectorTerms: Required value: must have at least one node selector term',
      'spec.nodeAffinity.required.nodeSelectorTerms: Required value: must have at least one node selector term',
      'nodeAffinity: Invalid value: {"Required":{"NodeSelectorTerms":[]}}: field is immutable, except for updating from beta label to GA',
    ]);
  });
});

test('a volume with deprecated fields draws warnings', () => {
  expect(
    behaviour.warnings({
      ...volume({ persistentVolumeReclaimPolicy: 'Recycle', capacity: { storage: '1500m' } }),
      metadata: { name: 'v', annotations: { 'volume.beta.kubernetes.io/storage-class': 'x' } },
    }),
  ).toEqual([
    'metadata.annotations[volume.beta.kubernetes.io/storage-class]: deprecated since v1.8; use "storageClassName" attribute instead',
    'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.',
  ]);
});

test('the table of volumes shows claim and class', () => {
  const bound = volume({
    claimRef: { namespace: 'ns', name: 'c' },
    storageClassName: 'fast',
    accessModes: ['ReadWriteOnce', 'ReadOnlyMany'],
  });
  expect(behaviour.table.cells({ ...bound, status: { phase: 'Bound' } }, 0)).toEqual([
    'v',
    '1Gi',
    'RWO,ROX',
    'Retain',
    'Bound',
    'ns/c',
    'fast',
    '<unset>',
    '',
    '<unknown>',
    'Filesystem',
  ]);
  expect(behaviour.table.cells({ ...bound, metadata: { name: 'v', deletionTimestamp: '2030-01-01T00:00:00Z' } }, 0)[4]).toBe('Terminating');
});
