import { describe, expect, it } from 'vitest';
import type { core, discovery } from '#api';
import { type ObservedService, reconcileSlices } from './reconcile.ts';

interface PodDraft {
  readonly ready?: boolean;
  readonly isGoing?: boolean;
  readonly node?: string;
  readonly phase?: string;
}

function pod(name: string, ip: string, { ready = true, isGoing = false, node = 'n', phase = 'Running' }: PodDraft = {}): core.Pod {
  return {
    metadata: { name, namespace: 'default', uid: `uid-${name}`, ...(isGoing && { deletionTimestamp: '2026-01-01T00:00:00Z' }) },
    spec: { nodeName: node, containers: [{ name: 'c', image: 'i' }] },
    status: { phase, podIP: ip, podIPs: [{ ip }], conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
  };
}

function service(spec: Partial<core.ServiceSpec> = {}): core.Service {
  const ports = [{ name: 'http', port: 80, targetPort: 8080, protocol: 'TCP' }];
  return {
    metadata: { name: 'web', namespace: 'default', uid: 'uid-web', labels: { team: 'a' } },
    spec: { clusterIP: '10.96.0.1', ipFamilies: ['IPv4'], selector: { app: 'web' }, ports, ...spec },
  };
}

const NODE: core.Node = { metadata: { name: 'n', labels: { 'topology.kubernetes.io/zone': 'z1' } } };

function observe(pods: readonly core.Pod[], changes: Partial<ObservedService> = {}): ObservedService {
  return { service: service(), pods, slices: [], node: (name) => (name === 'n' ? NODE : undefined), ...changes };
}

/** The server's slices after the changes. */
function applied({ slices }: ObservedService, changes: ReturnType<typeof reconcileSlices>): discovery.EndpointSlice[] {
  const replaced = new Set([...changes.remove, ...changes.update].map(({ metadata }) => metadata.name));
  const created = changes.create.map((slice, i) => ({ ...slice, metadata: { ...slice.metadata, name: `web-new${i}` } }));
  return [...slices.filter(({ metadata }) => !replaced.has(metadata.name)), ...changes.update, ...created];
}

function settle(observed: ObservedService, max = 100): discovery.EndpointSlice[] {
  return applied(observed, reconcileSlices(observed, max));
}

describe('the slices of a service', () => {
  it('have the node, zone and conditions of each pod', () => {
    const pods = [pod('a', '10.0.0.1'), pod('b', '10.0.0.2', { ready: false }), pod('c', '10.0.0.3', { isGoing: true })];
    const [slice, ...others] = settle(observe(pods));
    expect(others).toEqual([]);
    expect(slice?.ports).toEqual([{ name: 'http', port: 8080, protocol: 'TCP' }]);
    expect(slice?.endpoints?.map(({ addresses, conditions, zone, nodeName }) => [addresses[0], conditions, zone, nodeName])).toEqual([
      ['10.0.0.1', { ready: true, serving: true, terminating: false }, 'z1', 'n'],
      ['10.0.0.2', { ready: false, serving: false, terminating: false }, 'z1', 'n'],
      ['10.0.0.3', { ready: false, serving: true, terminating: true }, 'z1', 'n'],
    ]);
  });

  it('have an owner reference and labels of the service and the controller', () => {
    const [slice] = settle(observe([pod('a', '10.0.0.1')]));
    expect(slice?.metadata).toMatchObject({
      generateName: 'web-',
      ownerReferences: [{ kind: 'Service', uid: 'uid-web', controller: true }],
    });
    expect(slice?.metadata.labels).toEqual({
      team: 'a',
      'kubernetes.io/service-name': 'web',
      'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
    });
  });

  it('are one that is empty when there are no pods', () => {
    const [slice, ...others] = settle(observe([]));
    expect(others).toEqual([]);
    expect(slice).toMatchObject({ addressType: 'IPv4', endpoints: [], ports: [] });
  });

  it('leave out pods that have ended, and those of nodes that are not known, and say so', () => {
    const observed = observe([pod('a', '10.0.0.1', { phase: 'Succeeded' }), pod('b', '10.0.0.2', { node: 'new' })]);
    const changes = reconcileSlices(observed, 100);
    expect(changes.skipped).toEqual(['b']);
    expect(applied(observed, changes).flatMap(({ endpoints }) => endpoints ?? [])).toEqual([]);
  });

  it('are of each family that the service has', () => {
    const dual: core.Pod = {
      ...pod('a', '10.0.0.1'),
      status: { phase: 'Running', podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }] },
    };
    const slices = settle(observe([dual], { service: service({ ipFamilies: ['IPv4', 'IPv6'] }) }));
    expect(slices.map(({ addressType, endpoints }) => [addressType, endpoints?.[0]?.addresses])).toEqual([
      ['IPv4', ['10.0.0.1']],
      ['IPv6', ['fd00::1']],
    ]);
  });

  it('hold no more than they may, and stay as they are when nothing changes', () => {
    const pods = Array.from({ length: 25 }, (_, i) => pod(`p${i}`, `10.0.0.${i}`));
    const observed = observe(pods);
    const slices = settle(observed, 10);
    expect(slices.map(({ endpoints }) => endpoints?.length).toSorted()).toEqual([10, 10, 5]);
    expect(reconcileSlices({ ...observed, slices }, 10)).toEqual({ create: [], update: [], remove: [], skipped: [], zoneHints: [] });
    const fewer = settle({ ...observed, slices, pods: pods.slice(0, 3) }, 10);
    expect(fewer.flatMap(({ endpoints }) => endpoints ?? [])).toHaveLength(3);
  });

  it('go when their family or their service is another', () => {
    const slices = settle(observe([pod('a', '10.0.0.1')]));
    const after = settle(observe([], { slices, service: service({ ipFamilies: ['IPv6'] }) }));
    expect(after.map(({ addressType }) => addressType)).toEqual(['IPv6']);
    const other = { ...service(), metadata: { ...service().metadata, uid: 'uid-again' } };
    const again = settle(observe([pod('a', '10.0.0.1')], { slices, service: other }));
    expect(again.map(({ metadata }) => metadata.ownerReferences?.[0]?.uid)).toEqual(['uid-again']);
  });
});
