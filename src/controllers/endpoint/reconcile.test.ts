import { describe, expect, it } from 'vitest';
import type { core } from '#api';
import { reconcileEndpoints } from './reconcile.ts';

interface PodDraft {
  readonly ready?: boolean;
  readonly phase?: string;
  readonly isGoing?: boolean;
  readonly spec?: Partial<core.PodSpec>;
  readonly ips?: readonly string[];
}

function pod(
  name: string,
  ip: string,
  { ready = true, phase = 'Running', isGoing = false, spec = {}, ips = [ip] }: PodDraft = {},
): core.Pod {
  return {
    metadata: { name, namespace: 'default', uid: `uid-${name}`, ...(isGoing && { deletionTimestamp: '2026-01-01T00:00:00Z' }) },
    spec: {
      nodeName: 'n',
      containers: [{ name: 'c', image: 'i', ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }] }],
      ...spec,
    },
    status: {
      phase,
      podIP: ip,
      podIPs: ips.map((podIP) => ({ ip: podIP })),
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
    },
  };
}

function service(spec: Partial<core.ServiceSpec> = {}, labels: Record<string, string> = {}): core.Service {
  const full = { clusterIP: '10.96.0.1', selector: { app: 'web' }, ports: [{ port: 80, targetPort: 8080, protocol: 'TCP' }], ...spec };
  return { metadata: { name: 'web', namespace: 'default', labels }, spec: full };
}

const summary = ({ subsets = [] }: core.Endpoints) =>
  subsets.map(({ addresses = [], notReadyAddresses = [], ports = [] }) => ({
    ready: addresses.map(({ ip }) => ip),
    notReady: notReadyAddresses.map(({ ip }) => ip),
    ports: ports.map(({ name, port }) => `${name ?? ''}:${port}`),
  }));

describe('the endpoints of a service', () => {
  it.each<[string, core.Service, core.Pod[], object[]]>([
    [
      'are its pods, ready or not',
      service(),
      [pod('b', '10.0.0.2', { ready: false }), pod('a', '10.0.0.1')],
      [{ ready: ['10.0.0.1'], notReady: ['10.0.0.2'], ports: [':8080'] }],
    ],
    ['are none without pods', service(), [], []],
    ['leave out pods that go', service(), [pod('a', '10.0.0.1', { isGoing: true })], []],
    ['leave out pods that have ended', service(), [pod('a', '10.0.0.1', { phase: 'Failed' })], []],
    ['leave out pods without an address', service(), [pod('a', '', { ips: [] })], []],
    [
      'call all pods ready when told to',
      service({ publishNotReadyAddresses: true }),
      [pod('a', '10.0.0.1', { ready: false })],
      [{ ready: ['10.0.0.1'], notReady: [], ports: [':8080'] }],
    ],
    [
      'find ports by their name',
      service({ ports: [{ name: 'web', port: 80, targetPort: 'http', protocol: 'TCP' }] }),
      [pod('a', '10.0.0.1')],
      [{ ready: ['10.0.0.1'], notReady: [], ports: ['web:8080'] }],
    ],
    ['have nothing at a port that no pod has', service({ ports: [{ port: 80, targetPort: 'nope' }] }), [pod('a', '10.0.0.1')], []],
    [
      'need no port when headless',
      service({ clusterIP: 'None', ports: [] }),
      [pod('a', '10.0.0.1')],
      [{ ready: ['10.0.0.1'], notReady: [], ports: [] }],
    ],
    [
      'are of the first family of the service',
      service({ ipFamilies: ['IPv6'] }),
      [pod('a', '10.0.0.1', { ips: ['10.0.0.1', 'fd00::1'] })],
      [{ ready: ['fd00::1'], notReady: [], ports: [':8080'] }],
    ],
  ])('%s', (_name, of, pods, expected) => {
    expect(summary(reconcileEndpoints(of, pods, undefined))).toEqual(expected);
  });

  it('say where each is, and by what name a headless service finds it', () => {
    const named = pod('a', '10.0.0.1', { spec: { hostname: 'a', subdomain: 'web' } });
    expect(reconcileEndpoints(service({ clusterIP: 'None' }), [named], undefined).subsets?.[0]?.addresses).toEqual([
      { ip: '10.0.0.1', hostname: 'a', nodeName: 'n', targetRef: { kind: 'Pod', namespace: 'default', name: 'a', uid: 'uid-a' } },
    ]);
  });

  it('have the labels of the service, and say whether it is headless', () => {
    const managed = { 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' };
    expect(reconcileEndpoints(service({}, { team: 'a' }), [], undefined).metadata.labels).toEqual({ team: 'a', ...managed });
    const headless = service({ clusterIP: 'None' });
    expect(reconcileEndpoints(headless, [], undefined).metadata.labels).toEqual({ 'service.kubernetes.io/headless': '', ...managed });
  });

  it('are not written when unchanged', () => {
    const first = reconcileEndpoints(service(), [pod('a', '10.0.0.1')], undefined);
    expect(reconcileEndpoints(service(), [pod('a', '10.0.0.1')], first)).toBe(first);
  });

  it('are limited to 1000, with the over-capacity annotation', () => {
    const many = Array.from({ length: 1100 }, (_, i) => pod(`p${i}`, `10.0.${Math.floor(i / 250)}.${i % 250}`, { ready: i >= 50 }));
    const { subsets, metadata } = reconcileEndpoints(service(), many, undefined);
    expect(subsets?.[0]?.addresses).toHaveLength(1000);
    expect(subsets?.[0]?.notReadyAddresses).toBeUndefined();
    expect(metadata.annotations).toEqual({ 'endpoints.kubernetes.io/over-capacity': 'truncated' });
    const fewer = reconcileEndpoints(service(), many.slice(0, 5), { metadata, ...(subsets && { subsets }) });
    expect(fewer.metadata.annotations).toBeUndefined();
  });
});
