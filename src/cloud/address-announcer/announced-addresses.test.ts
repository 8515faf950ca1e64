import { describe, expect, it } from 'vitest';
import type { core, discovery } from '#api';
import { announcedAddresses } from './announced-addresses.ts';

const node = (name: string, { ready = true, labels = {} }: { ready?: boolean; labels?: Record<string, string> } = {}) =>
  ({
    metadata: { name, labels },
    status: {
      conditions: [
        { type: 'Ready', status: ready ? 'True' : 'False' },
        { type: 'NetworkUnavailable', status: 'False' },
      ],
    },
  }) as core.Node;
const service = (ip: string, spec: object = {}) =>
  ({
    metadata: { name: ip, namespace: 'd' },
    spec: { type: 'LoadBalancer', ...spec },
    status: { loadBalancer: { ingress: [{ ip }] } },
  }) as core.Service;

const services = Array.from({ length: 30 }, (_, i) => service(`192.168.1.${200 + i}`));
const ranges = ['192.168.1.192/26'];
const announced = (nodes: readonly core.Node[], of = services, slices: readonly discovery.EndpointSlice[] = []) =>
  new Map(
    nodes.map(({ metadata }) => [
      metadata!.name!,
      announcedAddresses(metadata!.name!, { services: of, nodes, ranges, slices: () => slices }),
    ]),
  );

describe('addresses of load balancers', () => {
  it('are answered for by exactly one node each', () => {
    const byNode = announced([node('a'), node('b'), node('c')]);
    expect([...byNode.values()].flat().sort()).toEqual(services.map(({ metadata }) => metadata!.name!).sort());
    expect([...byNode.values()].every((addresses) => addresses.length > 0)).toBe(true);
  });

  it('move only from a node that is gone', () => {
    const before = announced([node('a'), node('b'), node('c')]);
    const after = announced([node('a'), node('b')]);
    for (const name of ['a', 'b']) expect(after.get(name)).toEqual(expect.arrayContaining([...before.get(name)!]));
  });

  it.each([
    ['not ready', node('b', { ready: false })],
    ['excluded', node('b', { labels: { 'node.kubernetes.io/exclude-from-external-load-balancers': '' } })],
    ['simulated', { metadata: { name: 'b' }, status: { conditions: [{ type: 'Ready', status: 'True' }] } } as core.Node],
  ])('are not answered for by a node that is %s', (_name, other) => {
    const byNode = announced([node('a'), other]);
    expect(byNode.get('b')).toEqual([]);
    expect(byNode.get('a')?.length).toBe(services.length);
  });

  it('with externalTrafficPolicy Local are answered for where an endpoint is', () => {
    const slice = {
      endpoints: [{ addresses: ['10.0.0.1'], nodeName: 'b', conditions: { ready: true } }],
    } as unknown as discovery.EndpointSlice;
    const byNode = announced([node('a'), node('b')], [service('192.168.1.200', { externalTrafficPolicy: 'Local' })], [slice]);
    expect([...byNode]).toEqual([
      ['a', []],
      ['b', ['192.168.1.200']],
    ]);
  });

  it('outside of the ranges are left alone, as are services that are no load balancers any more', () => {
    expect(announced([node('a')], [service('203.0.113.1'), service('192.168.1.200', { type: 'ClusterIP' })]).get('a')).toEqual([]);
  });
});
