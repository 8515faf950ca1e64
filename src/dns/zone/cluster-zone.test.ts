import { describe, expect, test } from 'vitest';
import type { core, discovery } from '#api';
import { ClusterZone } from './cluster-zone.ts';
import { ServiceIndex } from './service-index.ts';

const service = (name: string, spec: object): core.Service => ({ metadata: { name, namespace: 'default' }, spec }) as core.Service;
const slice = (name: string, of: string, endpoints: readonly object[], port = 80): discovery.EndpointSlice =>
  ({
    metadata: { name, namespace: 'default', labels: { 'kubernetes.io/service-name': of } },
    addressType: 'IPv4',
    endpoints,
    ports: [{ name: 'http', protocol: 'TCP', port }],
  }) as discovery.EndpointSlice;

function zoneWith(fill: (index: ServiceIndex) => void): ClusterZone {
  const index = new ServiceIndex();
  index.putNamespace({ metadata: { name: 'default' } });
  fill(index);
  return new ClusterZone({ domain: 'cluster.local', ttlSeconds: 5, serverIps: ['10.96.0.10'] }, index);
}

const web = service('web', {
  clusterIP: '10.96.0.5',
  clusterIPs: ['10.96.0.5', 'fd00::5'],
  ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
});
const db = service('db', { clusterIP: 'None', ports: [{ name: 'http', port: 80 }] });
const dbSlice = slice('db-1', 'db', [
  { addresses: ['10.244.0.7'], hostname: 'db-0', conditions: { ready: true } },
  { addresses: ['10.244.0.8'], conditions: {} },
  { addresses: ['10.244.0.9'], conditions: { ready: false } },
]);
const zone = zoneWith((index) => {
  index.putService(web);
  index.putService(db);
  index.putSlice(dbSlice);
  index.putService(service('out', { type: 'ExternalName', externalName: 'Example.com.' }));
  index.putService(service('in', { type: 'ExternalName', externalName: 'web.default.svc.cluster.local' }));
});

function lookUp(name: string, type: string, from = zone): string {
  const answer = from.answer({ name, type });
  if (answer === undefined) return 'not ours';
  const data = (record: { data?: unknown }) => {
    const value = record.data as { target?: string; port?: number };
    return value?.target === undefined ? String(record.data) : `${value.target}:${value.port}`;
  };
  const records = answer.answers.map((record) => data(record as { data?: unknown })).join(' ');
  return records || (answer.rcode === 3 ? 'NXDOMAIN' : 'NODATA');
}

describe('the cluster zone', () => {
  test.each([
    ['web.default.svc.cluster.local', 'A', '10.96.0.5'],
    ['web.default.svc.cluster.local', 'AAAA', 'fd00::5'],
    ['web.default.svc.cluster.local', 'MX', 'NODATA'],
    ['web.default.svc.cluster.local', 'SRV', 'web.default.svc.cluster.local:80'],
    ['_http._tcp.web.default.svc.cluster.local', 'SRV', 'web.default.svc.cluster.local:80'],
    ['_http._tcp.web.default.svc.cluster.local', 'A', 'NODATA'],
    ['_http._udp.web.default.svc.cluster.local', 'SRV', 'NXDOMAIN'],
    ['db.default.svc.cluster.local', 'A', '10.244.0.7 10.244.0.8'],
    ['db-0.db.default.svc.cluster.local', 'A', '10.244.0.7'],
    ['10-244-0-8.db.default.svc.cluster.local', 'A', '10.244.0.8'],
    ['10-244-0-9.db.default.svc.cluster.local', 'A', 'NXDOMAIN'],
    ['_http._tcp.db.default.svc.cluster.local', 'SRV', 'db-0.db.default.svc.cluster.local:80 10-244-0-8.db.default.svc.cluster.local:80'],
    ['out.default.svc.cluster.local', 'A', 'example.com'],
    ['in.default.svc.cluster.local', 'A', 'web.default.svc.cluster.local 10.96.0.5'],
    ['none.default.svc.cluster.local', 'A', 'NXDOMAIN'],
    ['web.none.svc.cluster.local', 'A', 'NXDOMAIN'],
    ['default.svc.cluster.local', 'A', 'NODATA'],
    ['svc.cluster.local', 'A', 'NODATA'],
    ['cluster.local', 'A', 'NODATA'],
    ['cluster.local', 'NS', 'ns.dns.cluster.local'],
    ['ns.dns.cluster.local', 'A', '10.96.0.10'],
    ['dns-version.cluster.local', 'TXT', '1.1.0'],
    ['10-244-0-7.default.pod.cluster.local', 'A', '10.244.0.7'],
    ['fd00--7.default.pod.cluster.local', 'AAAA', 'fd00::7'],
    ['no-address.default.pod.cluster.local', 'A', 'NXDOMAIN'],
    ['a.b.c.d.e.web.default.svc.cluster.local', 'A', 'NXDOMAIN'],
    ['constructor.default.svc.cluster.local', 'A', 'NXDOMAIN'],
    ['example.com', 'A', 'not ours'],
    ['5.0.96.10.in-addr.arpa', 'PTR', 'web.default.svc.cluster.local'],
    ['7.0.244.10.in-addr.arpa', 'PTR', 'db-0.db.default.svc.cluster.local'],
    ['5.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.d.f.ip6.arpa', 'PTR', 'web.default.svc.cluster.local'],
    ['1.1.1.1.in-addr.arpa', 'PTR', 'not ours'],
  ])('answers %s %s with %s', (name, type, expected) => {
    expect(lookUp(name, type)).toBe(expected);
  });

  test('an ExternalName outside of the cluster is to be followed', () => {
    expect(zone.answer({ name: 'out.default.svc.cluster.local', type: 'A' })?.follow).toBe('example.com');
  });

  test('aliases that lead in a circle end', () => {
    const circle = zoneWith((index) => {
      index.putService(service('a', { type: 'ExternalName', externalName: 'b.default.svc.cluster.local' }));
      index.putService(service('b', { type: 'ExternalName', externalName: 'a.default.svc.cluster.local' }));
    });
    expect(circle.answer({ name: 'a.default.svc.cluster.local', type: 'A' })?.answers).toHaveLength(9);
  });
});

describe('the index', () => {
  test('forgets addresses, names and pointers of what is deleted', () => {
    const index = new ServiceIndex();
    index.putNamespace({ metadata: { name: 'default' } });
    index.putSlice(dbSlice);
    index.putService(db);
    index.putService(web);
    expect(index.service('default', 'db')?.endpoints).toHaveLength(2);
    index.removeSlice(dbSlice);
    expect(index.service('default', 'db')?.endpoints).toEqual([]);
    expect([...index.owners('10.244.0.7')]).toEqual([]);
    index.removeService(web);
    expect(index.service('default', 'web')).toBeUndefined();
    expect([...index.owners('10.96.0.5')]).toEqual([]);
  });

  test('a service that changes its address leaves none behind', () => {
    const index = new ServiceIndex();
    index.putService(web);
    index.putService(service('web', { clusterIP: '10.96.0.6', ports: [] }));
    expect([...index.owners('10.96.0.5')]).toEqual([]);
    expect([...index.owners('10.96.0.6')]).toHaveLength(1);
  });
});
