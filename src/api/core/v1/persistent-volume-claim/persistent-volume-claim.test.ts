import { describe, expect, test } from 'vitest';
import { persistentVolumeClaimBehaviour } from './persistent-volume-claim.behaviour.ts';
import type { PersistentVolumeClaim } from './persistent-volume-claim.ts';
import type { PersistentVolumeClaimSpec } from './persistent-volume-claim-spec.ts';

const behaviour = persistentVolumeClaimBehaviour as Required<typeof persistentVolumeClaimBehaviour>;
const SPEC: PersistentVolumeClaimSpec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };

function claim(spec: Partial<PersistentVolumeClaimSpec> = {}, status?: PersistentVolumeClaim['status']): PersistentVolumeClaim {
  return behaviour.defaults({ metadata: { name: 'c', namespace: 'ns' }, spec: { ...SPEC, ...spec }, ...(status && { status }) });
}

const errorsOf = (spec: Partial<PersistentVolumeClaimSpec>) => behaviour.validate(claim(spec)).map(String);

test('a minimal claim is valid, and defaults to the phase Pending', () => {
  expect(errorsOf({})).toEqual([]);
  expect(claim()).toEqual({
    metadata: { name: 'c', namespace: 'ns' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, volumeMode: 'Filesystem' },
    status: { phase: 'Pending' },
  });
});

describe('what is refused', () => {
  test.each<[string, Partial<PersistentVolumeClaimSpec>, readonly string[]]>([
    ['no way to access it', { accessModes: [] }, ['spec.accessModes: Required value: at least 1 access mode is required']],
    ['no size', { resources: {} }, ['spec.resources[storage]: Required value']],
    [
      'a size of nothing',
      { resources: { requests: { storage: '0' } } },
      ['spec.resources[storage]: Invalid value: "0": must be greater than zero'],
    ],
    [
      'a bad selector',
      { selector: { matchLabels: { 'not a key': 'a' } } },
      [
        "spec.selector.matchLabels: Invalid value: \"not a key\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
      ],
    ],
    [
      'a bad class',
      { storageClassName: 'Not A Class' },
      [
        "spec.storageClassName: Invalid value: \"Not A Class\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
      ],
    ],
    [
      'a source of another kind',
      { dataSource: { kind: 'Tape', name: 't' } },
      ['spec.dataSource: Invalid value: "Tape": must be \'PersistentVolumeClaim\' when referencing the default apiGroup'],
    ],
    [
      'two sources that differ',
      { dataSource: { kind: 'PersistentVolumeClaim', name: 'a' }, dataSourceRef: { kind: 'PersistentVolumeClaim', name: 'b' } },
      ['spec: Invalid value: {}: must match dataSourceRef'],
    ],
    ['an unknown mode', { volumeMode: 'Tape' }, ['spec.volumeMode: Unsupported value: "Tape": supported values: "Block", "Filesystem"']],
  ])('%s', (_, spec, errors) => {
    expect(errorsOf(spec)).toEqual(errors);
  });
});

describe('an update', () => {
  const bound = claim({ volumeName: 'v', storageClassName: 'fast' }, { phase: 'Bound', capacity: { storage: '1Gi' } });
  const changed = (spec: Partial<PersistentVolumeClaimSpec>): PersistentVolumeClaim => ({ ...bound, spec: { ...bound.spec, ...spec } });
  test.each<[string, Partial<PersistentVolumeClaimSpec>, readonly string[]]>([
    ['may ask for more once it is bound', { resources: { requests: { storage: '2Gi' } } }, []],
    [
      'may not ask for less than there is',
      { resources: { requests: { storage: '1Mi' } } },
      ['spec.resources.requests.storage: Forbidden: field can not be less than status.capacity'],
    ],
    [
      'may not change the volume',
      { volumeName: 'w' },
      [
        'spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n@@ -9,7 +9,7 @@\n    "storage": "1Gi"\n   }\n  },\n- "VolumeName": "v",\n+ "VolumeName": "w",\n  "StorageClassName": "fast",\n  "VolumeMode": "Filesystem",\n  "DataSource": null,\n',
      ],
    ],
    [
      'may not change how it is accessed',
      { accessModes: ['ReadWriteMany'] },
      [
        'spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n@@ -1,6 +1,6 @@\n {\n  "AccessModes": [\n-  "ReadWriteOnce"\n+  "ReadWriteMany"\n  ],\n  "Selector": null,\n  "Resources": {\n',
      ],
    ],
  ])('%s', (_, spec, errors) => {
    expect(behaviour.validateUpdate(changed(spec), bound).map(String)).toEqual(errors);
  });

  test('of the size must wait until the claim is bound', () => {
    expect(behaviour.validateUpdate(claim({ resources: { requests: { storage: '2Gi' } } }), claim()).map(String)).toEqual([
      'spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n@@ -6,7 +6,7 @@\n  "Resources": {\n   "Limits": null,\n   "Requests": {\n-   "storage": "1Gi"\n+   "storage": "2Gi"\n   }\n  },\n  "VolumeName": "",\n',
    ]);
  });

  test('of the status refuses what is no size, and unknown states of resizing', () => {
    const status = { phase: 'Bound', capacity: { storage: '-1' }, allocatedResourceStatuses: { storage: 'Growing' } };
    expect(behaviour.validateStatusUpdate({ ...bound, status }, bound).map(String)).toEqual([
      'status.capacity[storage]: Invalid value: -1: must be a valid resource quantity',
      'status.allocatedResourceStatuses: Unsupported value: "storage": supported values: "ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizeInProgress", "NodeResizeInfeasible", "NodeResizePending"',
    ]);
  });
});

test('a claim for a fraction of a byte draws a warning', () => {
  expect(behaviour.warnings(claim({ resources: { requests: { storage: '1500m' } } }))).toEqual([
    'spec.resources.requests[storage]: fractional byte value "1500m" is invalid, must be an integer',
  ]);
});

test('the table of claims shows the bound volume', () => {
  expect(behaviour.table.cells(claim(), 0)).toEqual(['c', 'Pending', '', '', '', '', '<unset>', '<unknown>', 'Filesystem']);
  expect(
    behaviour.table.cells(
      claim(
        { volumeName: 'v', storageClassName: 'fast' },
        { phase: 'Bound', capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'] },
      ),
      0,
    ),
  ).toEqual(['c', 'Bound', 'v', '1Gi', 'RWO', 'fast', '<unset>', '<unknown>', 'Filesystem']);
});
