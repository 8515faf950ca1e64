import { describe, expect, test } from 'vitest';
import { nodeBehaviour } from './node.behaviour.ts';
import type { Node } from './node.ts';

const { defaults, validate, validateUpdate, warnings, table } = nodeBehaviour as Required<typeof nodeBehaviour>;
const node = (parts: Partial<Node> = {}): Node => defaults({ metadata: { name: 'n' }, ...parts });
const errorsOf = (parts: Partial<Node>) => validate(node(parts)).map(String);

test('a minimal node is valid, and its allocatable resources default to its capacity', () => {
  expect(errorsOf({})).toEqual([]);
  expect(node({ status: { capacity: { cpu: '4', memory: '1Gi' } } }).status).toEqual({
    capacity: { cpu: '4', memory: '1Gi' },
    allocatable: { cpu: '4', memory: '1Gi' },
  });
});

describe('what is refused', () => {
  test.each<[string, Partial<Node>, readonly string[]]>([
    [
      'a bad name',
      { metadata: { name: 'Bad_Name' } },
      [
        "metadata.name: Invalid value: \"Bad_Name\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
      ],
    ],
    [
      'taints that are none',
      {
        spec: {
          taints: [
            { key: '', effect: 'NoSchedule' },
            { key: 'a', effect: 'Never' },
            { key: 'b', value: 'not a value!', effect: 'NoExecute' },
          ],
        },
      },
      [
        'metadata.taints[0].key: Invalid value: "": name part must be non-empty',
        "metadata.taints[0].key: Invalid value: \"\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
        'metadata.taints[1].effect: Unsupported value: "Never": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
        "metadata.taints[2].value: Invalid value: \"not a value!\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
      ],
    ],
    [
      'a taint twice',
      {
        spec: {
          taints: [
            { key: 'a', effect: 'NoSchedule' },
            { key: 'a', value: 'b', effect: 'NoSchedule' },
          ],
        },
      },
      [
        'metadata.taints[1]: Duplicate value: {"Key":"a","Value":"b","Effect":"NoSchedule","TimeAdded":null}: taints must be unique by key and effect pair',
      ],
    ],
    [
      'ranges that are none',
      { spec: { podCIDR: '10.0.0.0/24', podCIDRs: ['10.0.0.0/24', 'x'] } },
      [
        'spec.podCIDRs[1]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
        'spec.podCIDRs: Internal error: invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[1]: x (invalid CIDR address: x)',
        'spec.podCIDRs: Invalid value: ["10.0.0.0/24","x"]: may specify no more than one CIDR for each IP family',
      ],
    ],
    [
      'two ranges of one family',
      { spec: { podCIDR: '10.0.0.0/24', podCIDRs: ['10.0.0.0/24', '10.1.0.0/24'] } },
      ['spec.podCIDRs: Invalid value: ["10.0.0.0/24","10.1.0.0/24"]: may specify no more than one CIDR for each IP family'],
    ],
    [
      'negative resources',
      { status: { capacity: { cpu: '-1' } } },
      [
        'status.capacity.cpu: Invalid value: "-1": must be greater than or equal to 0',
        'status.allocatable.cpu: Invalid value: "-1": must be greater than or equal to 0',
      ],
    ],
    [
      'part of a device',
      { status: { capacity: { 'example.com/gpu': '1500m' } } },
      [
        'status.capacity.example.com/gpu: Invalid value: "1500m": must be an integer',
        'status.allocatable.example.com/gpu: Invalid value: "1500m": must be an integer',
      ],
    ],
  ])('%s', (_, parts, errors) => {
    expect(errorsOf(parts)).toEqual(errors);
  });
});

describe('an update', () => {
  const old = node({ spec: { podCIDR: '10.0.0.0/24', podCIDRs: ['10.0.0.0/24'], providerID: 'cloud://1' } });
  test.each<[string, Partial<Node>, readonly string[]]>([
    ['may cordon', { spec: { ...old.spec, unschedulable: true } }, []],
    [
      'may not change ranges of addresses',
      { spec: { ...old.spec, podCIDR: '10.1.0.0/24', podCIDRs: ['10.1.0.0/24'] } },
      ['spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid'],
    ],
    [
      'may not change who provides it',
      { spec: { ...old.spec, providerID: 'cloud://2' } },
      ['spec.providerID: Forbidden: node updates may not change providerID except from "" to valid'],
    ],
    ['may not set what is gone', { spec: { ...old.spec, externalID: 'x' } }, ['spec.externalID: Forbidden: may not be updated']],
  ])('%s', (_, parts, errors) => {
    expect(validateUpdate(node({ ...parts }), old).map(String)).toEqual(errors);
  });
});

test('a node with unusual CIDR spelling or removed fields draws warnings', () => {
  expect(warnings(node({ spec: { podCIDRs: ['FD00::/64'], externalID: 'x' } }))).toEqual([
    'spec.externalID: this field is deprecated, and is unused by Kubernetes',
    'spec.podCIDRs[0]: IPv6 CIDR value "FD00::/64" should be in RFC 5952 canonical format ("fd00::/64")',
  ]);
});

test.each<[string, Node, unknown]>([
  [
    'a node that says nothing',
    node(),
    ['n', 'Unknown', '<none>', '<unknown>', '', '<none>', '<none>', '<unknown>', '<unknown>', '<unknown>'],
  ],
  [
    'a node that is ready and cordoned',
    node({
      metadata: { name: 'n', labels: { 'node-role.kubernetes.io/control-plane': '', 'kubernetes.io/role': 'x' } },
      spec: { unschedulable: true },
      status: {
        conditions: [{ type: 'Ready', status: 'True' }],
        addresses: [
          { type: 'InternalIP', address: '10.0.0.2' },
          { type: 'ExternalIP', address: '192.0.2.2' },
        ],
        nodeInfo: { kubeletVersion: 'v1.36.4', osImage: 'An OS', kernelVersion: '6.1', containerRuntimeVersion: 'cri://2' } as never,
      },
    }),
    ['n', 'Ready,SchedulingDisabled', 'control-plane,x', '<unknown>', 'v1.36.4', '10.0.0.2', '192.0.2.2', 'An OS', '6.1', 'cri://2'],
  ],
])('prints %s', (_, object, cells) => {
  expect(table.cells(object, 0)).toEqual(cells);
});
