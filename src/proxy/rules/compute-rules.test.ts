import { describe, expect, it } from 'vitest';
import type { core, discovery } from '#api';
import { computeServiceRules } from './compute-rules.ts';

const node = { name: 'n1', zone: 'here' };
type Slice = { ports?: object[]; endpoints?: object[]; labels?: Record<string, string> };
const service = (spec: object, overrides: object = {}) =>
  ({
    metadata: { name: 's', namespace: 'd' },
    spec: { clusterIP: '10.96.0.1', ports: [{ port: 80 }], ...spec },
    ...overrides,
  }) as core.Service;
const slice = ({ ports = [{ port: 8080 }], endpoints = [], labels = {} }: Slice) =>
  ({ metadata: { name: 'x', labels }, addressType: 'IPv4', ports, endpoints }) as unknown as discovery.EndpointSlice;
const frontends = (of: core.Service, slices: readonly discovery.EndpointSlice[] = []) =>
  computeServiceRules(of, slices, node).ports.flatMap((port) => port.frontends);
const targets = (of: core.Service, slices: readonly discovery.EndpointSlice[]) =>
  frontends(of, slices)[0]!.endpoints.map(({ address, port }) => `${address}:${port}`);

describe('the rules of a service', () => {
  it('have one endpoint for each address and port, whichever slices they are in', () => {
    const twoAddresses = slice({ endpoints: [{ addresses: ['10.1.0.1'] }, { addresses: ['10.1.0.2'] }] });
    const two = slice({ ports: [{ port: 8081 }], endpoints: [{ addresses: ['10.1.0.1'] }] });
    expect(targets(service({}), [twoAddresses, two, twoAddresses])).toEqual(['10.1.0.1:8080', '10.1.0.1:8081', '10.1.0.2:8080']);
  });

  it.each([
    ['another proxy serves it', { metadata: { name: 's', labels: { 'service.kubernetes.io/service-proxy-name': 'x' } } }, {}],
    ['it is headless', {}, { clusterIP: 'None' }],
    ['it is a name elsewhere', {}, { type: 'ExternalName', clusterIP: '' }],
    ['its address is no address', {}, { clusterIP: 'nonsense' }],
  ])('are none where %s', (_name, overrides, spec) => {
    expect(frontends(service(spec, overrides))).toEqual([]);
  });

  it('leave out balancers that pass connections on themselves', () => {
    const ingress = [
      { ip: '192.0.2.1', ipMode: 'VIP' },
      { ip: '192.0.2.2', ipMode: 'Proxy' },
      { hostname: 'lb.example' },
      { ip: 'fd00::1' },
    ];
    const rules = frontends(service({ type: 'LoadBalancer' }, { status: { loadBalancer: { ingress } } }));
    expect(rules.filter(({ kind }) => kind === 'loadBalancer').map(({ address }) => address)).toEqual(['192.0.2.1']);
  });

  it.each([
    ['a field', { loadBalancerSourceRanges: ['10.0.0.0/8', 'fd00::/8'] }, {}, ['10.0.0.0/8']],
    [
      'an annotation',
      {},
      { 'service.beta.kubernetes.io/load-balancer-source-ranges': ' 10.0.0.0/8 ,192.0.2.0/24' },
      ['10.0.0.0/8', '192.0.2.0/24'],
    ],
    ['a range of everybody', { loadBalancerSourceRanges: ['0.0.0.0/0'] }, {}, undefined],
    ['ranges of the other family only', { loadBalancerSourceRanges: ['fd00::/8'] }, {}, []],
  ])('let in whom %s names', (_name, spec, annotations, ranges) => {
    const status = { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } };
    const rules = frontends(service({ type: 'LoadBalancer', ...spec }, { metadata: { name: 's', annotations }, status }));
    expect(rules.find(({ kind }) => kind === 'loadBalancer')?.sourceRanges).toEqual(ranges);
  });

  it('report the node unhealthy to balancers once its only endpoints terminate, and still serve by them', () => {
    const spec = {
      type: 'LoadBalancer',
      externalTrafficPolicy: 'Local',
      healthCheckNodePort: 30_001,
      ports: [{ port: 80, nodePort: 30_002 }],
    };
    const terminating = { ready: false, serving: true, terminating: true };
    const of = (conditions: object) =>
      computeServiceRules(service(spec), [slice({ endpoints: [{ addresses: ['10.1.0.1'], nodeName: 'n1', conditions }] })], node);
    expect(of({ ready: true }).healthCheck?.localEndpoints).toBe(1);
    const { healthCheck, ports } = of(terminating);
    expect(healthCheck?.localEndpoints).toBe(0);
    const nodePort = ports[0]!.frontends.find(({ kind }) => kind === 'nodePort');
    expect(nodePort?.localEndpoints?.map(({ address }) => address)).toEqual(['10.1.0.1']);
  });

  it('count an address once for health checks, whatever its ports and slices', () => {
    const spec = { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 30_001 };
    const endpoints = [
      { addresses: ['10.1.0.1'], nodeName: 'n1' },
      { addresses: ['10.1.0.2'], nodeName: 'n2' },
    ];
    const slices = [slice({ endpoints }), slice({ ports: [{ port: 8081 }], endpoints })];
    expect(computeServiceRules(service(spec), slices, node).healthCheck?.localEndpoints).toBe(1);
  });

  it('follow hints for the node before those for the zone, and none where an endpoint has no hint', () => {
    const hinted = (address: string, hints?: object) => ({ addresses: [address], ...(hints && { hints }) });
    const zones = (zone: string) => ({ forZones: [{ name: zone }] });
    const near = [hinted('10.1.0.1', zones('here')), hinted('10.1.0.2', zones('there'))];
    expect(targets(service({}), [slice({ endpoints: near })])).toEqual(['10.1.0.1:8080']);
    expect(targets(service({}), [slice({ endpoints: [...near, hinted('10.1.0.3')] })])).toHaveLength(3);
    const onNodes = [
      hinted('10.1.0.1', { ...zones('here'), forNodes: [{ name: 'n2' }] }),
      hinted('10.1.0.2', { ...zones('there'), forNodes: [{ name: 'n1' }] }),
    ];
    expect(targets(service({}), [slice({ endpoints: onNodes })])).toEqual(['10.1.0.2:8080']);
  });
});
