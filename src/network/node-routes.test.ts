import { describe, expect, it } from 'vitest';
import { type Peer, planRoutes, routeChanges, tunnelMac } from './node-routes.ts';

const local = { name: 'a', addresses: ['192.168.1.1', 'fd01::1'], linkNetworks: ['192.168.1.1/24', 'fd01::1/64'] };
const near: Peer = { name: 'b', podCidrs: ['10.0.1.0/24', 'fd02:1::/64'], addresses: ['192.168.1.2', 'fd01::2'] };
const far: Peer = { name: 'c', podCidrs: ['10.0.2.0/24'], addresses: ['172.16.0.9'] };

describe('the way to pods of other nodes', () => {
  it('is a route where a link is shared, else a tunnel', () => {
    expect(planRoutes(local, [near, far], 'auto')).toEqual({
      direct: [
        { cidr: '10.0.1.0/24', via: '192.168.1.2' },
        { cidr: 'fd02:1::/64', via: 'fd01::2' },
      ],
      tunnel: [{ cidr: '10.0.2.0/24', via: '10.0.2.0', mac: tunnelMac('c'), remote: '172.16.0.9' }],
      unreachable: [],
    });
  });

  it('is never a tunnel with host-gw, and always one with vxlan', () => {
    expect(planRoutes(local, [far], 'host-gw').unreachable).toHaveLength(1);
    expect(planRoutes(local, [near], 'vxlan').tunnel).toHaveLength(2);
    expect(planRoutes(local, [near, far], 'none')).toEqual({ direct: [], tunnel: [], unreachable: [] });
  });

  it('does not lead to the node itself', () => {
    expect(planRoutes(local, [{ ...near, name: 'a' }], 'auto').direct).toEqual([]);
  });

  it('changes only where it is different from before', () => {
    const before = planRoutes(local, [near, far], 'auto');
    const after = planRoutes(local, [{ ...near, addresses: ['192.168.1.3', 'fd01::2'] }], 'auto');
    const { ip, bridge } = routeChanges(before, after);
    expect(ip.map((command) => command.join(' '))).toEqual([
      'route del 10.0.2.0/24 proto 83',
      'route replace 10.0.1.0/24 via 192.168.1.3 proto 83',
    ]);
    expect(bridge).toEqual([]);
    expect(routeChanges(after, after)).toEqual({ ip: [], bridge: [] });
  });
});
