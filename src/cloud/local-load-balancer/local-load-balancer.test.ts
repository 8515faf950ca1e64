import { describe, expect, it } from 'vitest';
import type { core } from '#api';
import { assignAddresses } from './assign-addresses.ts';
import { listeningPorts } from './listening-ports.ts';

const service = (name: string, added: { ports?: core.ServicePort[]; current?: string[]; families?: string[]; requestedIp?: string } = {}) =>
  ({
    metadata: { name, namespace: 'd' },
    spec: {
      ports: added.ports ?? [{ port: 80 }],
      ipFamilies: added.families ?? ['IPv4'],
      ...(added.requestedIp && { loadBalancerIP: added.requestedIp }),
    },
    status: { loadBalancer: { ingress: (added.current ?? []).map((ip) => ({ ip })) } },
  }) as unknown as core.Service;
const assign = (services: core.Service[], ranges: string[] = [], inUse: string[] = []) => {
  const isPortInUse = (protocol: string, port: number) => inUse.includes(`${protocol} ${port}`);
  const assigned = assignAddresses(services, { ranges, nodeAddresses: ['192.168.1.5', 'fd00::5'], isPortInUse });
  return services.map((current) => {
    const result = assigned.get(current)!;
    return 'addresses' in result ? result.addresses : result.problem;
  });
};

describe('addresses of load balancers', () => {
  it('are those of the node, for one service a port and protocol', () => {
    const udp = [{ port: 80, protocol: 'UDP' }] as core.ServicePort[];
    const [first, second, third] = assign([service('a'), service('b'), service('c', { ports: udp })]);
    expect(first).toEqual(['192.168.1.5']);
    expect(second).toContain('port 80/TCP of the node is taken by another load balancer');
    expect(third).toEqual(['192.168.1.5']);
  });

  it('are refused where a program of the machine has the port', () => {
    expect(assign([service('a')], [], ['TCP 80'])[0]).toContain('in use by a program');
  });

  it('are of every family of the service', () => {
    expect(assign([service('a', { families: ['IPv4', 'IPv6'] })])).toEqual([['192.168.1.5', 'fd00::5']]);
  });

  it('come from the ranges, one a service, and stay', () => {
    const services = [
      service('a'),
      service('b', { current: ['10.9.0.0'] }),
      service('c', { requestedIp: '10.9.0.3' }),
      service('d'),
      service('e'),
    ];
    expect(assign(services, ['10.9.0.0/30'])).toEqual([
      ['10.9.0.1'],
      ['10.9.0.0'],
      ['10.9.0.3'],
      ['10.9.0.2'],
      'no address of IPv4 is free in the ranges of load balancers',
    ]);
  });

  it('are only those that were asked for', () => {
    expect(assign([service('a', { requestedIp: '10.8.0.1' })], ['10.9.0.0/30'])).toEqual([
      'the address 10.8.0.1 is not free in the ranges of load balancers',
    ]);
  });
});

it('ports that programs listen on are read from the tables of the kernel', () => {
  const header = '  sl  local_address rem_address   st';
  const tables: Record<string, string> = {
    '/proc/net/tcp': `${header}\n   0: 00000000:0016 00000000:0000 0A\n   1: 0100007F:18EB 00000000:0000 0A\n   2: 0500A8C0:0016 0700A8C0:1234 01\n`,
    '/proc/net/udp6': `${header}\n   0: 00000000000000000000000000000000:0035 00000000000000000000000000000000:0000 07\n`,
  };
  const read = (file: string) => {
    const table = tables[file];
    if (table === undefined) throw new Error('ENOENT');
    return table;
  };
  expect([...listeningPorts(read)]).toEqual(['TCP 22', 'UDP 53']);
});
