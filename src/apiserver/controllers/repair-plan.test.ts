import { describe, expect, it } from 'vitest';
import type { core, networking } from '#api';
import { formatTime } from '#machinery';
import { type AllocationState, planRepair } from './repair-plan.ts';

const NOW = Date.UTC(2026, 0, 1, 12);
const LABELS = { 'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io' };

function service(name: string, spec: object): core.Service {
  return { metadata: { name, namespace: 'ns' }, spec } as core.Service;
}

function address(ip: string, name: string, { ageSeconds = 3600, labels = LABELS }: { ageSeconds?: number; labels?: object } = {}) {
  const creationTimestamp = formatTime(NOW - ageSeconds * 1000);
  return {
    metadata: { name: ip, labels, creationTimestamp },
    spec: { parentRef: { resource: 'services', namespace: 'ns', name } },
  } as unknown as networking.IPAddress;
}

function plan(state: Partial<AllocationState>) {
  return planRepair({ services: [], addresses: [], ports: new Map(), now: NOW, graceMs: 60_000, ...state });
}

const NOTHING = { missingAddresses: [], missingPorts: [], leakedAddresses: [], leakedPorts: [] };
const A = service('a', { clusterIP: '10.96.0.9', clusterIPs: ['10.96.0.9'], ports: [{ port: 80, nodePort: 30001 }] });

describe('the repair of IP and port allocations', () => {
  it('does nothing when they match', () => {
    const state = { services: [A], addresses: [address('10.96.0.9', 'a')], ports: new Map([[30001, 'ns/a']]) };
    expect(plan(state)).toEqual(NOTHING);
  });

  it('allocates what a service uses', () => {
    const own = { service: { namespace: 'ns', name: 'a' } };
    expect(plan({ services: [A] })).toEqual({
      ...NOTHING,
      missingAddresses: [{ ...own, value: '10.96.0.9' }],
      missingPorts: [{ ...own, value: 30001 }],
    });
  });

  it.each([
    ['headless', { clusterIP: 'None', clusterIPs: ['None'] }],
    ['an external name', { type: 'ExternalName', externalName: 'x.example.com' }],
  ])('claims nothing for a service that is %s', (_, spec) => {
    expect(plan({ services: [service('h', spec)] })).toEqual(NOTHING);
  });

  it('counts the port of health checks as used', () => {
    const balanced = service('l', { clusterIPs: [], healthCheckNodePort: 31000, ports: [] });
    expect(plan({ services: [balanced], ports: new Map([[31000, 'ns/l']]) })).toEqual(NOTHING);
  });

  it('releases allocations of services that were deleted or have another address', () => {
    const addresses = [address('10.96.0.9', 'a'), address('10.96.0.10', 'a'), address('10.96.0.11', 'gone')];
    const ports = new Map([
      [30001, 'ns/a'],
      [30002, 'ns/gone'],
    ]);
    expect(plan({ services: [A], addresses, ports })).toEqual({
      ...NOTHING,
      leakedAddresses: ['10.96.0.10', '10.96.0.11'],
      leakedPorts: [30002],
    });
  });

  it('gives a new claim time to get its service', () => {
    expect(plan({ addresses: [address('10.96.0.12', 'coming', { ageSeconds: 30 })] })).toEqual(NOTHING);
  });

  it('does not touch addresses that others manage', () => {
    expect(plan({ addresses: [address('10.96.0.13', 'gone', { labels: {} })] })).toEqual(NOTHING);
  });
});
