import { describe, expect, test } from 'vitest';
import { core } from '#api';
import { StatusError } from '#machinery';
import { allocationsFor, clusterIpError, type IpFamily, nodePortError, releasesOf, withAllocated } from './service-allocation.ts';

const { defaults } = core.serviceBehaviour as Required<typeof core.serviceBehaviour>;
const ONE: readonly IpFamily[] = ['IPv4'];
const TWO: readonly IpFamily[] = ['IPv4', 'IPv6'];

function service(spec: core.ServiceSpec): core.Service {
  return defaults({ metadata: { name: 'a', namespace: 'ns' }, spec: { ports: [{ port: 80 }], ...spec } });
}

const STORED = service({ clusterIP: '10.96.0.7', clusterIPs: ['10.96.0.7'], ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' });

function planOf(spec: core.ServiceSpec, old?: core.Service, families = ONE): object {
  const { service: prepared, ...plan } = allocationsFor(service(spec), old, families);
  const { clusterIPs, ipFamilies, ipFamilyPolicy } = prepared.spec ?? {};
  return { ...plan, spec: { clusterIPs, ipFamilies, ipFamilyPolicy } };
}

function problemOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (error instanceof StatusError) return error.message;
    throw error;
  }
  return 'none';
}

describe('a new service needs', () => {
  test.each<[string, core.ServiceSpec, readonly IpFamily[], object]>([
    [
      'an address of the first family',
      {},
      TWO,
      {
        clusterIPs: [{ family: 'IPv4', index: 0 }],
        nodePorts: [],
        release: { clusterIPs: [], nodePorts: [] },
        spec: { ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' },
      },
    ],
    [
      'the address it asks for',
      { clusterIP: '10.96.0.9' },
      ONE,
      {
        clusterIPs: [{ family: 'IPv4', index: 0, ip: '10.96.0.9' }],
        nodePorts: [],
        release: { clusterIPs: [], nodePorts: [] },
        spec: { clusterIPs: ['10.96.0.9'], ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' },
      },
    ],
    [
      'none when it is only a name',
      { type: 'ExternalName', externalName: 'example.com' },
      ONE,
      { clusterIPs: [], nodePorts: [], release: { clusterIPs: [], nodePorts: [] }, spec: {} },
    ],
    [
      'none when it has no head',
      { clusterIP: 'None' },
      ONE,
      {
        clusterIPs: [],
        nodePorts: [],
        release: { clusterIPs: [], nodePorts: [] },
        spec: { clusterIPs: ['None'], ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'RequireDualStack' },
      },
    ],
    [
      'one of each family, if they are there',
      { ipFamilyPolicy: 'PreferDualStack' },
      TWO,
      {
        clusterIPs: [
          { family: 'IPv4', index: 0 },
          { family: 'IPv6', index: 1 },
        ],
        nodePorts: [],
        release: { clusterIPs: [], nodePorts: [] },
        spec: { ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'PreferDualStack' },
      },
    ],
    [
      'one, where there is one family',
      { ipFamilyPolicy: 'PreferDualStack' },
      ONE,
      {
        clusterIPs: [{ family: 'IPv4', index: 0 }],
        nodePorts: [],
        release: { clusterIPs: [], nodePorts: [] },
        spec: { ipFamilies: ['IPv4'], ipFamilyPolicy: 'PreferDualStack' },
      },
    ],
    [
      'families as it asks',
      { ipFamilies: ['IPv6'] },
      TWO,
      {
        clusterIPs: [{ family: 'IPv6', index: 0 }],
        nodePorts: [],
        release: { clusterIPs: [], nodePorts: [] },
        spec: { ipFamilies: ['IPv6'], ipFamilyPolicy: 'SingleStack' },
      },
    ],
    [
      'node ports',
      {
        type: 'NodePort',
        ports: [
          { port: 80, name: 'a' },
          { port: 81, name: 'b', nodePort: 30081 },
        ],
      },
      ONE,
      {
        clusterIPs: [{ family: 'IPv4', index: 0 }],
        nodePorts: [
          { index: 0, indices: [0] },
          { index: 1, indices: [1], port: 30081 },
        ],
        release: { clusterIPs: [], nodePorts: [] },
        spec: { ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' },
      },
    ],
    [
      'one node port for one port of two protocols',
      {
        type: 'NodePort',
        ports: [
          { port: 53, name: 'a' },
          { port: 53, name: 'b', protocol: 'UDP' },
        ],
      },
      ONE,
      {
        clusterIPs: [{ family: 'IPv4', index: 0 }],
        nodePorts: [{ index: 0, indices: [0, 1] }],
        release: { clusterIPs: [], nodePorts: [] },
        spec: { ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' },
      },
    ],
    [
      'no node ports when it says so',
      {
        type: 'LoadBalancer',
        allocateLoadBalancerNodePorts: false,
        ports: [
          { port: 80, name: 'a' },
          { port: 81, name: 'b', nodePort: 30081 },
        ],
      },
      ONE,
      {
        clusterIPs: [{ family: 'IPv4', index: 0 }],
        nodePorts: [{ index: 1, indices: [1], port: 30081 }],
        release: { clusterIPs: [], nodePorts: [] },
        spec: { ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' },
      },
    ],
    [
      'a port for health checks',
      { type: 'LoadBalancer', externalTrafficPolicy: 'Local' },
      ONE,
      {
        clusterIPs: [{ family: 'IPv4', index: 0 }],
        nodePorts: [{ index: 0, indices: [0] }],
        healthCheckNodePort: {},
        release: { clusterIPs: [], nodePorts: [] },
        spec: { ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' },
      },
    ],
  ])('%s', (_, spec, families, plan) => {
    expect(planOf(spec, undefined, families)).toEqual(plan);
  });
});

describe('what cannot be', () => {
  test.each<[string, core.ServiceSpec, readonly IpFamily[], string]>([
    [
      'two families where there is one',
      { ipFamilyPolicy: 'RequireDualStack' },
      ONE,
      'Service "a" is invalid: spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services',
    ],
    [
      'a family that is not there',
      { ipFamilies: ['IPv6'] },
      ONE,
      'Service "a" is invalid: spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster',
    ],
    [
      'two addresses and one stack',
      { clusterIP: '10.96.0.7', clusterIPs: ['10.96.0.7', 'fd00::7'], ipFamilyPolicy: 'SingleStack' },
      TWO,
      'Service "a" is invalid: spec.ipFamilyPolicy: Invalid value: "SingleStack": must be \'RequireDualStack\' or \'PreferDualStack\' when multiple cluster IPs are specified',
    ],
    [
      'two families and one stack',
      { ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'SingleStack' },
      TWO,
      'Service "a" is invalid: spec.ipFamilyPolicy: Invalid value: "SingleStack": must be \'RequireDualStack\' or \'PreferDualStack\' when multiple IP families are specified',
    ],
  ])('%s', (_, spec, families, problem) => {
    expect(problemOf(() => allocationsFor(service(spec), undefined, families))).toBe(problem);
  });
});

describe('an update needs', () => {
  test.each<[string, core.ServiceSpec, object]>([
    [
      'nothing new when nothing changes',
      {},
      {
        clusterIPs: [],
        nodePorts: [],
        release: { clusterIPs: [], nodePorts: [] },
        spec: { clusterIPs: ['10.96.0.7'], ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' },
      },
    ],
    [
      'a node port, once it is to be reached from outside',
      { type: 'NodePort' },
      {
        clusterIPs: [],
        nodePorts: [{ index: 0, indices: [0] }],
        release: { clusterIPs: [], nodePorts: [] },
        spec: { clusterIPs: ['10.96.0.7'], ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' },
      },
    ],
    [
      'no address any more, once it is only a name',
      { type: 'ExternalName', externalName: 'example.com' },
      { clusterIPs: [], nodePorts: [], release: { clusterIPs: ['10.96.0.7'], nodePorts: [] }, spec: {} },
    ],
    [
      'an address of the second family',
      { ipFamilyPolicy: 'RequireDualStack' },
      {
        clusterIPs: [{ family: 'IPv6', index: 1 }],
        nodePorts: [],
        release: { clusterIPs: [], nodePorts: [] },
        spec: { clusterIPs: ['10.96.0.7'], ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'RequireDualStack' },
      },
    ],
  ])('%s', (_, spec, plan) => {
    expect(planOf(spec, STORED, TWO)).toEqual(plan);
  });

  test('ports that stay are kept, others are given back', () => {
    const old = service({
      ...STORED.spec,
      type: 'NodePort',
      ports: [
        { port: 80, name: 'a', nodePort: 30080 },
        { port: 81, name: 'b', nodePort: 30081 },
      ],
    });
    expect(
      planOf(
        {
          ...STORED.spec,
          type: 'NodePort',
          ports: [
            { port: 80, name: 'a' },
            { port: 82, name: 'c' },
          ],
        },
        old,
      ),
    ).toEqual({
      clusterIPs: [],
      nodePorts: [{ index: 1, indices: [1] }],
      release: { clusterIPs: [], nodePorts: [30081] },
      spec: { clusterIPs: ['10.96.0.7'], ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' },
    });
  });

  test('the port of health checks is given back with the policy', () => {
    const old = service({
      ...STORED.spec,
      type: 'LoadBalancer',
      externalTrafficPolicy: 'Local',
      healthCheckNodePort: 30500,
      ports: [{ port: 80, nodePort: 30080 }],
    });
    const after = { ...STORED.spec, type: 'LoadBalancer', externalTrafficPolicy: 'Cluster', ports: [{ port: 80, nodePort: 30080 }] };
    expect(planOf(after, old)).toEqual({
      clusterIPs: [],
      nodePorts: [],
      release: { clusterIPs: [], nodePorts: [30500] },
      spec: { clusterIPs: ['10.96.0.7'], ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' },
    });
  });
});

test('allocated addresses and ports are set in the service', () => {
  const plan = allocationsFor(
    service({
      type: 'LoadBalancer',
      externalTrafficPolicy: 'Local',
      ipFamilyPolicy: 'RequireDualStack',
      ports: [
        { port: 53, name: 'a' },
        { port: 53, name: 'b', protocol: 'UDP' },
        { port: 80, name: 'c' },
      ],
    }),
    undefined,
    TWO,
  );
  const { spec } = withAllocated(plan, { clusterIPs: ['10.96.0.7', 'fd00::7'], nodePorts: [30053, 30080], healthCheckNodePort: 30500 });
  expect(spec).toEqual({
    ports: [
      { port: 53, name: 'a', protocol: 'TCP', targetPort: 53, nodePort: 30053 },
      { port: 53, name: 'b', protocol: 'UDP', targetPort: 53, nodePort: 30053 },
      { port: 80, name: 'c', protocol: 'TCP', targetPort: 80, nodePort: 30080 },
    ],
    type: 'LoadBalancer',
    externalTrafficPolicy: 'Local',
    ipFamilyPolicy: 'RequireDualStack',
    sessionAffinity: 'None',
    internalTrafficPolicy: 'Cluster',
    allocateLoadBalancerNodePorts: true,
    ipFamilies: ['IPv4', 'IPv6'],
    clusterIPs: ['10.96.0.7', 'fd00::7'],
    clusterIP: '10.96.0.7',
    healthCheckNodePort: 30500,
  });
});

test('a deleted service releases all its addresses and ports', () => {
  const spec: core.ServiceSpec = {
    ...STORED.spec,
    type: 'LoadBalancer',
    externalTrafficPolicy: 'Local',
    healthCheckNodePort: 30500,
    ports: [{ port: 80, nodePort: 30080 }],
  };
  expect(releasesOf(service(spec))).toEqual({ clusterIPs: ['10.96.0.7'], nodePorts: [30080, 30500] });
  expect(releasesOf(service({ clusterIP: 'None', clusterIPs: ['None'] }))).toEqual({ clusterIPs: [], nodePorts: [] });
});

test('addresses and ports that cannot be allocated are named in the error', () => {
  const plan = allocationsFor(
    service({ type: 'NodePort', clusterIP: '10.96.0.7', ports: [{ port: 80, nodePort: 30080 }] }),
    undefined,
    ONE,
  );
  const [port] = plan.nodePorts;
  expect(clusterIpError(plan, 'provided IP is already allocated', '10.96.0.7').message).toBe(
    'Service "a" is invalid: spec.clusterIPs: Invalid value: ["10.96.0.7"]: failed to allocate IP 10.96.0.7: provided IP is already allocated',
  );
  expect(port && nodePortError(plan, port, 'provided port is already allocated').message).toBe(
    'Service "a" is invalid: spec.ports[0].nodePort: Invalid value: 30080: provided port is already allocated',
  );
});
