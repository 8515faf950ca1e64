import { describe, expect, test } from 'vitest';
import { csiDriverBehaviour } from './csi-driver.behaviour.ts';
import { csiNodeBehaviour } from './csi-node.behaviour.ts';
import { csiStorageCapacityBehaviour } from './csi-storage-capacity.behaviour.ts';
import { storageClassBehaviour } from './storage-class.behaviour.ts';
import type { StorageClass } from './storage-class.ts';
import { volumeAttachmentBehaviour } from './volume-attachment.behaviour.ts';
import { volumeAttributesClassBehaviour } from './volume-attributes-class.behaviour.ts';

const classes = storageClassBehaviour as Required<typeof storageClassBehaviour>;
const drivers = csiDriverBehaviour as Required<typeof csiDriverBehaviour>;
const nodes = csiNodeBehaviour as Required<typeof csiNodeBehaviour>;
const capacities = csiStorageCapacityBehaviour as Required<typeof csiStorageCapacityBehaviour>;
const attachments = volumeAttachmentBehaviour as Required<typeof volumeAttachmentBehaviour>;
const attributes = volumeAttributesClassBehaviour as Required<typeof volumeAttributesClassBehaviour>;
const metadata = { name: 'a' };

describe('a storage class', () => {
  const storageClass = (parts: Partial<StorageClass>): StorageClass =>
    classes.defaults({ metadata, provisioner: 'd.example.com', ...parts });

  test('deletes volumes, and binds at once', () => {
    expect(storageClass({})).toEqual({
      metadata: { name: 'a' },
      provisioner: 'd.example.com',
      reclaimPolicy: 'Delete',
      volumeBindingMode: 'Immediate',
    });
  });

  test.each<[string, Partial<StorageClass>, readonly string[]]>([
    ['without a provisioner', { provisioner: '' }, ['provisioner: Required value']],
    [
      'with a bad provisioner',
      { provisioner: 'a/b/c' },
      [
        "provisioner: Invalid value: \"a/b/c\": a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
      ],
    ],
    ['with an empty parameter', { parameters: { '': 'x' } }, ['parameters: Invalid value: "": field can not be empty.']],
    [
      'with an unknown policy',
      { reclaimPolicy: 'Recycle' },
      ['reclaimPolicy: Unsupported value: "Recycle": supported values: "Delete", "Retain"'],
    ],
    [
      'with an unknown mode of binding',
      { volumeBindingMode: 'Never' },
      ['volumeBindingMode: Unsupported value: "Never": supported values: "Immediate", "WaitForFirstConsumer"'],
    ],
    [
      'with topologies that repeat themselves',
      {
        allowedTopologies: [
          { matchLabelExpressions: [{ key: 'zone', values: ['a'] }] },
          { matchLabelExpressions: [{ key: 'zone', values: ['a'] }] },
        ],
      },
      ['allowedTopologies[1].matchLabelExpressions: Duplicate value: ""'],
    ],
    [
      'with a topology without values',
      { allowedTopologies: [{ matchLabelExpressions: [{ key: 'zone', values: [] }] }] },
      ['allowedTopologies[0].matchLabelExpressions[0].values: Required value'],
    ],
  ])('%s', (_, parts, errors) => {
    expect(classes.validate(storageClass(parts)).map(String)).toEqual(errors);
  });

  test('changes only in what new volumes do not show', () => {
    expect(classes.validateUpdate(storageClass({ allowVolumeExpansion: true }), storageClass({})).map(String)).toEqual([]);
    expect(
      classes
        .validateUpdate(
          storageClass({
            provisioner: 'e.example.com',
            parameters: { a: 'b' },
            reclaimPolicy: 'Retain',
            volumeBindingMode: 'WaitForFirstConsumer',
          }),
          storageClass({}),
        )
        .map(String),
    ).toEqual([
      'parameters: Invalid value: {"a":"b"}: field is immutable',
      'provisioner: Invalid value: "e.example.com": field is immutable',
      'reclaimPolicy: Invalid value: "Retain": field is immutable',
      'volumeBindingMode: Invalid value: "WaitForFirstConsumer": field is immutable',
    ]);
  });

  test('prints whether it is the default', () => {
    const annotated = {
      ...storageClass({}),
      metadata: { name: 'a', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
    };
    expect(classes.table.cells(annotated, 0)).toEqual(['a (default)', 'd.example.com', 'Delete', 'Immediate', false, '<unknown>']);
  });
});

describe('a CSI driver', () => {
  test('attaches, and is asked for nothing else, unless told', () => {
    expect(drivers.defaults({ metadata, spec: {} }).spec).toEqual({
      attachRequired: true,
      podInfoOnMount: false,
      storageCapacity: false,
      fsGroupPolicy: 'ReadWriteOnceWithFSType',
      requiresRepublish: false,
      seLinuxMount: false,
      volumeLifecycleModes: ['Persistent'],
    });
  });

  test.each<[string, object, readonly string[]]>([
    ['with nothing unusual', {}, []],
    [
      'with an unknown policy for groups',
      { fsGroupPolicy: 'Maybe' },
      ['spec.fsGroupPolicy: Unsupported value: "Maybe": supported values: "File", "None", "ReadWriteOnceWithFSType"'],
    ],
    [
      'with unknown lifecycles',
      { volumeLifecycleModes: ['Eternal'] },
      ['spec.volumeLifecycleModes: Unsupported value: "Eternal": supported values: "Persistent", "Ephemeral"'],
    ],
    [
      'with tokens for one audience twice, and too short',
      { tokenRequests: [{ audience: 'a' }, { audience: 'a' }, { audience: 'b', expirationSeconds: 60 }] },
      [
        'spec.tokenRequests[1].audience: Duplicate value: "a"',
        'spec.tokenRequests[2].expirationSeconds: Invalid value: 60: may not specify a duration less than 10 minutes',
      ],
    ],
    [
      'that is asked too often',
      { nodeAllocatableUpdatePeriodSeconds: 5 },
      ['spec.nodeAllocatableUpdatePeriodSeconds: Invalid value: 5: must be greater than or equal to 10 seconds'],
    ],
  ])('%s', (_, spec, errors) => {
    expect(drivers.validate(drivers.defaults({ metadata, spec })).map(String)).toEqual(errors);
  });

  test('keeps what nodes rely on', () => {
    const driver = (spec: object) => drivers.defaults({ metadata, spec });
    expect(drivers.validateUpdate(driver({ attachRequired: false, volumeLifecycleModes: ['Ephemeral'] }), driver({})).map(String)).toEqual([
      'spec.attachedRequired: Invalid value: false: field is immutable',
      'spec.volumeLifecycleModes: Invalid value: ["Ephemeral"]: field is immutable',
    ]);
  });
});

describe('a node with drivers', () => {
  test.each<[string, readonly object[], readonly string[]]>([
    [
      'that are two',
      [
        { name: 'a', nodeID: 'n', topologyKeys: ['zone'] },
        { name: 'b', nodeID: 'n' },
      ],
      [],
    ],
    [
      'that are one, twice',
      [
        { name: 'a', nodeID: 'n' },
        { name: 'a', nodeID: 'n' },
      ],
      ['spec.drivers[1].name: Duplicate value: "a"'],
    ],
    ['without an id', [{ name: 'a', nodeID: '' }], ['spec.drivers[0].nodeID: Required value']],
    [
      'with bad topologies',
      [{ name: 'a', nodeID: 'n', topologyKeys: ['a', 'a', ''] }],
      [
        'spec.drivers[0]: Duplicate value: "a"',
        'spec.drivers[0]: Required value',
        'spec.drivers[0]: Invalid value: "": name part must be non-empty',
        "spec.drivers[0]: Invalid value: \"\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
      ],
    ],
    [
      'with less than no room',
      [{ name: 'a', nodeID: 'n', allocatable: { count: -1 } }],
      ['spec.drivers[0].allocatable.count: Invalid value: -1: must be greater than or equal to 0'],
    ],
  ])('%s', (_, list, errors) => {
    expect(nodes.validate({ metadata, spec: { drivers: list as never } }).map(String)).toEqual(errors);
  });

  test('keeps each driver as it is, except its room', () => {
    const node = (driver: object) => ({ metadata, spec: { drivers: [{ name: 'a', nodeID: 'n', ...driver }] } });
    expect(nodes.validateUpdate(node({ allocatable: { count: 2 } }), node({})).map(String)).toEqual([]);
    expect(nodes.validateUpdate(node({ nodeID: 'm' }), node({})).map(String)).toEqual([
      'spec.drivers: Invalid value: {"Name":"a","NodeID":"m","TopologyKeys":null,"Allocatable":null}: field is immutable',
    ]);
  });
});

test('a CSIStorageCapacity has a storage class and no negative capacity', () => {
  const capacity = { metadata: { name: 'a', namespace: 'ns' }, storageClassName: 'fast' };
  expect(capacities.validate({ ...capacity, capacity: '1Gi' }).map(String)).toEqual([]);
  expect(capacities.validate({ ...capacity, storageClassName: 'A_', capacity: '-1' }).map(String)).toEqual([
    "storageClassName: Invalid value: \"A_\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    'capacity: Invalid value: "-1": must be greater than or equal to 0',
  ]);
  expect(capacities.validateUpdate({ ...capacity, storageClassName: 'slow' }, capacity).map(String)).toEqual([
    'storageClassName: Invalid value: "slow": field is immutable',
  ]);
});

describe('an attachment', () => {
  test.each<[string, object, readonly string[]]>([
    ['of a volume', { attacher: 'd.example.com', nodeName: 'n', source: { persistentVolumeName: 'v' } }, []],
    [
      'of nothing',
      {},
      [
        'spec.attacher: Required value',
        'spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName',
        "spec.nodeName: Invalid value: \"\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
      ],
    ],
    [
      'of a volume without a name',
      { attacher: 'd.example.com', nodeName: 'n', source: { persistentVolumeName: '' } },
      [
        'spec.source.persistentVolumeName: Required value: must specify non empty persistentVolumeName',
        "spec.source.persistentVolumeName: Invalid value: \"\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
      ],
    ],
    [
      'of two volumes',
      { attacher: 'd.example.com', nodeName: 'n', source: { persistentVolumeName: 'v', inlineVolumeSpec: {} } },
      ['spec.source: Forbidden: must specify exactly one of inlineVolumeSpec and persistentVolumeName'],
    ],
  ])('%s', (_, spec, errors) => {
    expect(attachments.validate({ metadata, spec } as never).map(String)).toEqual(errors);
  });

  test('stays what it is', () => {
    const attachment = (nodeName: string) => ({
      metadata,
      spec: { attacher: 'd.example.com', nodeName, source: { persistentVolumeName: 'v' } },
    });
    expect(attachments.validateUpdate(attachment('m') as never, attachment('n') as never).map(String)).toEqual([
      'spec: Invalid value: {"Attacher":"d.example.com","Source":{"PersistentVolumeName":"v","InlineVolumeSpec":null},"NodeName":"m"}: field is immutable',
    ]);
  });
});

test('a VolumeAttributesClass has a driver and parameters, which are immutable', () => {
  const attributesClass = { metadata, driverName: 'd.example.com', parameters: { iops: '1' } };
  expect(attributes.validate(attributesClass).map(String)).toEqual([]);
  expect(attributes.validate({ metadata, driverName: '', parameters: {} }).map(String)).toEqual([
    'driverName: Required value',
    'parameters: Required value: must contain at least one key/value pair',
  ]);
  expect(attributes.validateUpdate({ ...attributesClass, parameters: { iops: '2' } }, attributesClass).map(String)).toEqual([
    'parameters: Forbidden: updates to parameters are forbidden.',
  ]);
});
