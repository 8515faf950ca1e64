import { describe, expect, it } from 'vitest';
import { AddressPool, AddressRange } from './address-pool.ts';

describe('the addresses of a node', () => {
  it('leaves out the network, the gateway and the broadcast address', () => {
    const range = new AddressRange('10.0.0.0/29');
    const addresses = Array.from({ length: 6 }, () => range.allocate());
    expect(range.gateway).toBe('10.0.0.1');
    expect(addresses).toEqual(['10.0.0.2', '10.0.0.3', '10.0.0.4', '10.0.0.5', '10.0.0.6', undefined]);
  });

  it('lets an address rest before it is given again', () => {
    const range = new AddressRange('10.0.0.0/29');
    range.release(range.allocate()!);
    expect(range.allocate()).toBe('10.0.0.3');
  });

  it.each(['10.0.0.0/31', 'nonsense', '10.0.0.0', 'fd00::/127'])('refuses %s', (cidr) => {
    expect(() => new AddressRange(cidr)).toThrow(`podCIDR "${cidr}"`);
  });

  it('takes no address where one family has none left', () => {
    const pool = new AddressPool(['10.0.0.0/24', 'fd00::/126']);
    expect(pool.allocate()).toEqual(['10.0.0.2', 'fd00::2']);
    expect(pool.allocate()).toBeUndefined();
    pool.release(['fd00::2']);
    expect(pool.allocate()).toEqual(['10.0.0.4', 'fd00::2']);
  });
});
