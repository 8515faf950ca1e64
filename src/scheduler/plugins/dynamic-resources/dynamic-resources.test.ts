import { describe, expect, test } from 'vitest';
import type { core, resource } from '#api';
import { type ClusterState, node, outcome, place, pod } from '../../placement.test-data.ts';

type Claim = resource.ResourceClaim;
type Device = Partial<resource.Device> & { readonly name: string };

const DRIVER = 'd.example.com';
const using = (...claims: string[]) =>
  pod('p', { spec: { resourceClaims: claims.map((name) => ({ name, resourceClaimName: name })) as core.PodResourceClaim[] } });
const deviceClass = (name: string, expression = `device.driver == "${DRIVER}"`) =>
  ({ metadata: { name }, spec: { selectors: [{ cel: { expression } }] } }) as resource.DeviceClass;
const exactly = (overrides: object = {}) => ({
  name: 'r',
  exactly: { deviceClassName: 'gpu', allocationMode: 'ExactCount', count: 1, ...overrides },
});

function claim(name: string, devices: object = { requests: [exactly()] }, status: object = {}): Claim {
  return { metadata: { name, namespace: 'default', uid: name }, spec: { devices }, status } as unknown as Claim;
}

function slice(nodeName: string, devices: readonly Device[], overrides: object = {}): resource.ResourceSlice {
  const pool = { name: nodeName, generation: 1, resourceSliceCount: 1 };
  return { metadata: { name: `s-${nodeName}` }, spec: { driver: DRIVER, pool, nodeName, devices, ...overrides } } as resource.ResourceSlice;
}

const allocated = (pool: string, device: string, overrides: object = {}) => ({
  allocation: { devices: { results: [{ request: 'r', driver: DRIVER, pool, device }] }, ...overrides },
});
const onlyOn = (name: string) => ({
  nodeSelector: { nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [name] }] }] },
});
const attribute = (value: string) => ({ attributes: { model: { string: value } } });

const shareable = { name: 'g', allowMultipleAllocations: true, capacity: { memory: { value: '80Gi' } } };
const asking = (memory: string) => exactly({ capacity: { requests: { memory } } });
const share = (pool: string, memory: string) => {
  const result = { request: 'r', driver: DRIVER, pool, device: 'g', shareID: 's', consumedCapacity: { memory } };
  return { allocation: { devices: { results: [result] } } };
};

const nodes = [node('a'), node('b')];
const standsFor = (extendedResourceName: string) => ({ metadata: { name: 'gpu' }, spec: { extendedResourceName } }) as resource.DeviceClass;
const deviceClasses = [deviceClass('gpu')];
const cannot = (reason: string, nodes = 2) =>
  `0/${nodes} nodes are available: ${nodes} ${reason}. still not schedulable, preemption: 0/${nodes} nodes are available: ${nodes} Preemption is not helpful for scheduling.`;

interface Case {
  readonly name: string;
  readonly state: ClusterState;
  readonly expected: string;
}

const cases: readonly Case[] = [
  {
    name: 'a pod goes where its device is',
    state: { resourceClaims: [claim('c')], resourceSlices: [slice('b', [{ name: 'g' }])] },
    expected: 'b',
  },
  {
    name: 'a device that another claim has is not to be had',
    state: { resourceClaims: [claim('c'), claim('x', {}, allocated('b', 'g'))], resourceSlices: [slice('b', [{ name: 'g' }])] },
    expected: cannot('cannot allocate all claims'),
  },
  {
    name: 'a device allocated for administrative access can be allocated again',
    state: {
      resourceClaims: [claim('c', { requests: [exactly({ adminAccess: true })] }), claim('x', {}, allocated('b', 'g'))],
      resourceSlices: [slice('b', [{ name: 'g' }])],
    },
    expected: 'b',
  },
  {
    name: 'a request can choose among devices',
    state: {
      resourceClaims: [claim('c', { requests: [exactly({ selectors: [selector(`device.attributes["${DRIVER}"].model == "big"`)] })] })],
      resourceSlices: [slice('a', [{ name: 'g', ...attribute('small') }]), slice('b', [{ name: 'g', ...attribute('big') }])],
    },
    expected: 'b',
  },
  {
    name: 'as many devices as are asked for',
    state: {
      resourceClaims: [claim('c', { requests: [exactly({ count: 2 })] })],
      resourceSlices: [slice('a', [{ name: 'g' }]), slice('b', [{ name: 'g' }, { name: 'h' }])],
    },
    expected: 'b',
  },
  {
    name: 'all devices are had only when none of them is taken',
    state: {
      resourceClaims: [claim('c', { requests: [exactly({ allocationMode: 'All' })] }), claim('x', {}, allocated('a', 'h'))],
      resourceSlices: [slice('a', [{ name: 'g' }, { name: 'h' }]), slice('b', [{ name: 'g' }])],
    },
    expected: 'b',
  },
  {
    name: 'devices must have in common what the claim says',
    state: {
      resourceClaims: [claim('c', { requests: [exactly({ count: 2 })], constraints: [{ matchAttribute: `${DRIVER}/model` }] })],
      resourceSlices: [
        slice('a', [
          { name: 'g', ...attribute('x') },
          { name: 'h', ...attribute('y') },
        ]),
        slice('b', [
          { name: 'g', ...attribute('x') },
          { name: 'h', ...attribute('y') },
          { name: 'i', ...attribute('y') },
        ]),
      ],
    },
    expected: 'b',
  },
  {
    name: 'a tainted device is for those who tolerate the taint',
    state: {
      resourceClaims: [claim('c', { requests: [exactly({ tolerations: [{ key: 'old', operator: 'Exists' }] })] })],
      resourceSlices: [
        slice('a', [{ name: 'g', taints: [{ key: 'broken', effect: 'NoSchedule' }] }]),
        slice('b', [{ name: 'g', taints: [{ key: 'old', effect: 'NoSchedule' }] }]),
      ],
    },
    expected: 'b',
  },
  {
    name: 'the best alternative wins',
    state: {
      deviceClasses: [deviceClass('big', 'device.attributes["d.example.com"].model == "big"'), deviceClass('gpu')],
      resourceClaims: [claim('c', { requests: [{ name: 'r', firstAvailable: [alternative('best', 'big'), alternative('any', 'gpu')] }] })],
      resourceSlices: [slice('a', [{ name: 'g', ...attribute('small') }]), slice('b', [{ name: 'g', ...attribute('big') }])],
    },
    expected: 'b',
  },
  {
    name: 'parts of a device exclude each other',
    state: {
      resourceClaims: [claim('c'), claim('x', {}, allocated('a', 'g'))],
      resourceSlices: [...partitioned('a'), slice('b', [{ name: 'g' }])],
    },
    expected: 'b',
  },
  {
    name: 'a device that can be shared is given out until it is used up',
    state: {
      resourceClaims: [claim('c', { requests: [asking('30Gi')] }), claim('x', {}, share('a', '60Gi')), claim('y', {}, share('b', '50Gi'))],
      resourceSlices: [slice('a', [shareable]), slice('b', [shareable])],
    },
    expected: 'b',
  },
  {
    name: 'a device that has too little is none',
    state: { resourceClaims: [claim('c', { requests: [asking('90Gi')] })], resourceSlices: [slice('a', [shareable])] },
    expected: cannot('cannot allocate all claims'),
  },
  {
    name: 'devices that must differ',
    state: {
      resourceClaims: [claim('c', { requests: [exactly({ count: 2 })], constraints: [{ distinctAttribute: `${DRIVER}/model` }] })],
      resourceSlices: [
        slice('a', [
          { name: 'g', ...attribute('x') },
          { name: 'h', ...attribute('x') },
        ]),
        slice('b', [
          { name: 'g', ...attribute('x') },
          { name: 'h', ...attribute('y') },
        ]),
      ],
    },
    expected: 'b',
  },
  {
    name: 'a pool that is not told in full gives nothing',
    state: {
      resourceClaims: [claim('c')],
      resourceSlices: [slice('a', [{ name: 'g' }], { pool: { name: 'a', generation: 1, resourceSliceCount: 2 } })],
    },
    expected: cannot('cannot allocate all claims'),
  },
  {
    name: 'devices that are allocated already tie the pod to their node',
    state: { resourceClaims: [claim('c', { requests: [exactly()] }, allocated('b', 'g', onlyOn('b')))] },
    expected: 'b',
  },
  {
    name: 'idle devices where the pod cannot be are given back',
    state: { resourceClaims: [claim('c', { requests: [exactly()] }, allocated('x', 'g', onlyOn('x')))] },
    expected: cannot('resourceclaim not available on the node').replace('still not schedulable', 'deallocation of ResourceClaim completed'),
  },
  {
    name: 'a class that is not there',
    state: { deviceClasses: [], resourceClaims: [claim('c')] },
    expected:
      '0/2 nodes are available: request r: device class gpu does not exist. no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.',
  },
  {
    name: 'an expression that fails',
    state: {
      deviceClasses: [deviceClass('gpu', 'device.attributes["x"].nosuch == "y"')],
      resourceClaims: [claim('c')],
      resourceSlices: [slice('a', [{ name: 'g' }])],
    },
    expected: 'running "DynamicResources" filter plugin: class gpu: selector #0: CEL runtime error: no such key: nosuch',
  },
];

function selector(expression: string): object {
  return { cel: { expression } };
}

function alternative(name: string, deviceClassName: string): object {
  return { name, deviceClassName, allocationMode: 'ExactCount', count: 1 };
}

/** Two devices that share capacity, which is enough for one of them. */
function partitioned(name: string): readonly resource.ResourceSlice[] {
  const pool = { name, generation: 1, resourceSliceCount: 2 };
  const consumesCounters = [{ counterSet: 'memory', counters: { gib: { value: '40' } } }];
  const devices = ['g', 'h'].map((device) => ({ name: device, consumesCounters }));
  const sharedCounters = [{ name: 'memory', counters: { gib: { value: '60' } } }];
  const counters = slice(name, [], { pool, sharedCounters });
  return [slice(name, devices, { pool }), { ...counters, metadata: { name: `${name}-counters` } }];
}

describe('device claims', () => {
  test.each(cases)('$name', ({ state, expected }) => {
    expect(outcome(place(using('c'), { nodes, deviceClasses, ...state }))).toBe(expected);
  });
});

describe('an extended resource', () => {
  const requesting = pod('p', { requests: { 'example.com/gpu': '1' } });
  const state = { nodes, deviceClasses: [standsFor('example.com/gpu')], resourceSlices: [slice('b', [{ name: 'g' }])] };

  test('is had from devices of its class', () => {
    expect(outcome(place(requesting, state))).toBe('b');
  });

  test('is had from a device plugin where the node has one', () => {
    const plugged = node('c', { allocatable: { 'example.com/gpu': '1' } });
    expect(outcome(place(requesting, { ...state, nodes: [plugged], resourceSlices: [] }))).toBe('c');
  });

  test('of no class is counted on the node alone', () => {
    expect(outcome(place(requesting, { ...state, deviceClasses: [deviceClass('gpu')] }))).toContain('2 Insufficient example.com/gpu');
  });

  test('is not had where all devices are allocated', () => {
    const allocatedClaim = claim('x', {}, allocated('b', 'g'));
    expect(outcome(place(requesting, { ...state, resourceClaims: [allocatedClaim] }))).toContain('2 cannot allocate all claims');
  });

  test('waits until the claim of an earlier try is gone', () => {
    const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'default-p', controller: true };
    const metadata = {
      name: 'left',
      namespace: 'default',
      uid: 'left',
      annotations: { 'resource.kubernetes.io/extended-resource-claim': 'true' },
      ownerReferences: [owner],
    };
    const left = { ...claim('left'), metadata } as Claim;
    const placement = place(requesting, { ...state, resourceClaims: [left] });
    expect(outcome(placement)).toContain('2 cannot schedule extended resource claim. deletion of ResourceClaim completed');
  });

  test('of several containers is claimed once for init containers, which end before the others begin', () => {
    const container = (name: string, amount: string) => ({ name, image: 'i', resources: { requests: { 'example.com/gpu': amount } } });
    const spec = { initContainers: [container('a', '1'), container('b', '3')], containers: [container('c', '1')] };
    const shaped = pod('p', { spec: spec as never });
    const devices = ['g', 'h', 'i'].map((name) => ({ name }));
    expect(outcome(place(shaped, { ...state, resourceSlices: [slice('b', devices)] }))).toBe('b');
    expect(outcome(place(shaped, { ...state, resourceSlices: [slice('b', devices.slice(1))] }))).toContain('cannot allocate all claims');
  });
});
