import { describe, expect, it } from 'vitest';
import type { core, discovery } from '#api';
import { isOverloaded } from './zone-allocation.ts';
import { hintZones, sharesByZone } from './zone-hints.ts';
import { zoneShares } from './zone-shares.ts';

function node(zone: string, cpu: string, { ready = 'True', labels = {} } = {}): core.Node {
  const of = zone ? { 'topology.kubernetes.io/zone': zone } : {};
  return {
    metadata: { name: 'n', labels: { ...of, ...labels } },
    status: { allocatable: { cpu }, conditions: [{ type: 'Ready', status: ready }] },
  };
}

describe('the share of a zone', () => {
  it('is that of its CPUs, of nodes that are ready and take traffic', () => {
    const control = { labels: { 'node-role.kubernetes.io/control-plane': '' } };
    const nodes = [node('a', '3'), node('b', '500m'), node('b', '500m'), node('c', '4', { ready: 'False' }), node('d', '9', control)];
    expect(zoneShares(nodes)).toEqual(
      new Map([
        ['a', 0.75],
        ['b', 0.25],
      ]),
    );
  });

  it.each([
    ['there is one zone only', [node('a', '1'), node('a', '1')]],
    ['a node is in no zone', [node('a', '1'), node('', '1'), node('b', '1')]],
    ['a node has no CPUs', [node('a', '1'), node('b', '0')]],
  ])('is not known when %s', (_name, nodes) => {
    expect(zoneShares(nodes)).toBeUndefined();
  });
});

const HALVES = new Map([
  ['a', 0.5],
  ['b', 0.5],
]);

function slice(name: string, ...zones: readonly string[]): discovery.EndpointSlice {
  const endpoints = zones.map((text, i) => {
    const [zone, hint] = text.split('>');
    const own = { addresses: [`10.0.0.${i}`], conditions: { ready: true }, ...(zone && { zone }) };
    return hint ? { ...own, hints: { forZones: [{ name: hint }] } } : own;
  });
  return { metadata: { name }, addressType: 'IPv4', endpoints };
}

const create = (...slices: discovery.EndpointSlice[]) => ({ create: slices, update: [], remove: [] });
const hintsOf = (slices: readonly discovery.EndpointSlice[]) =>
  slices.map(({ endpoints }) => endpoints?.map(({ hints }) => hints?.forZones?.[0]?.name ?? '').join(''));

describe('hints for zones', () => {
  it('keep traffic in its zone where the endpoints are as the CPUs are', () => {
    const { changes, result } = hintZones(create(slice('s', 'a', 'b', 'a', 'b')), [], HALVES);
    expect(hintsOf(changes.create)).toEqual(['abab']);
    expect(result).toEqual(
      new Map([
        ['a', 2],
        ['b', 2],
      ]),
    );
  });

  it('lend endpoints to a zone that has too few', () => {
    const { changes, result } = hintZones(create(slice('s', 'a', 'a', 'a', 'a', 'a', 'b')), [], HALVES);
    expect(hintsOf(changes.create)).toEqual(['bbaaab']);
    expect(result).toEqual(
      new Map([
        ['a', 3],
        ['b', 3],
      ]),
    );
  });

  it('leave slices alone that have what is needed, and fill those that have not', () => {
    const right = slice('right', 'a>a', 'b>b');
    const { changes } = hintZones(create(), [right, slice('bare', 'a', 'b')], HALVES);
    expect(changes.update.map(({ metadata }) => metadata.name)).toEqual(['bare']);
    expect(hintsOf(changes.update)).toEqual(['ab']);
  });

  it.each([
    ['too few endpoints', ['a'], HALVES, 'Insufficient number of endpoints (1 endpoints, 2 zones)'],
    ['an endpoint in no zone', ['a', ''], HALVES, 'One or more endpoints do not have a zone specified'],
    ['no shares', ['a', 'b'], undefined, 'Insufficient Node information: allocatable CPU or zone not specified on one or more nodes'],
    [
      'zones that cannot all have enough',
      ['a', 'b', 'a'],
      new Map([
        ['a', 0.9],
        ['b', 0.1],
      ]),
      'Unable to allocate minimum required endpoints to each zone without exceeding overload threshold (3 endpoints, 2 zones)',
    ],
  ])('are taken away for %s', (_name, zones, shares, problem) => {
    const { changes, result } = hintZones(create(), [slice('s', ...zones.map((zone) => `${zone}>a`))], shares);
    expect(result).toBe(problem);
    expect(hintsOf(changes.update)).toEqual(['']);
  });

  it('are reassigned when a zone has too few endpoints', () => {
    expect(
      isOverloaded(
        new Map([
          ['a', 2],
          ['b', 2],
        ]),
        HALVES,
      ),
    ).toBe(false);
    expect(
      isOverloaded(
        new Map([
          ['a', 2],
          ['b', 2],
        ]),
        new Map([
          ['a', 0.9],
          ['b', 0.1],
        ]),
      ),
    ).toBe(true);
    expect(isOverloaded(new Map([['a', 2]]), HALVES)).toBe(true);
  });

  it('are asked for by an annotation', () => {
    const asking = (annotations: Record<string, string>) => sharesByZone({ metadata: { name: 's', annotations } });
    expect(asking({ 'service.kubernetes.io/topology-mode': 'Auto' })).toBe(true);
    expect(asking({ 'service.kubernetes.io/topology-aware-hints': 'auto' })).toBe(true);
    expect(asking({ 'service.kubernetes.io/topology-aware-hints': 'disabled', 'service.kubernetes.io/topology-mode': 'Auto' })).toBe(false);
  });
});
