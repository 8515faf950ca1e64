import { describe, expect, it } from 'vitest';
import { CidrSet } from './cidr-set.ts';

describe('a set of ranges', () => {
  it('hands out the next free one, and those given back when all were used', () => {
    const set = new CidrSet('10.244.0.0/22', 24);
    expect([set.allocate(), set.allocate()]).toEqual(['10.244.0.0/24', '10.244.1.0/24']);
    set.release('10.244.0.0/24');
    expect([set.allocate(), set.allocate(), set.allocate()]).toEqual(['10.244.2.0/24', '10.244.3.0/24', '10.244.0.0/24']);
    expect(set.allocate()).toBeUndefined();
  });

  it('leaves out what is occupied, smaller and larger ranges included', () => {
    const set = new CidrSet('10.0.0.0/21', 24);
    for (const cidr of ['10.0.0.128/25', '10.0.2.0/23', '192.168.0.0/16', 'fd00::/64']) set.occupy(cidr);
    expect([set.allocate(), set.allocate(), set.allocate()]).toEqual(['10.0.1.0/24', '10.0.4.0/24', '10.0.5.0/24']);
  });

  it('knows IPv6', () => {
    const set = new CidrSet('fd00:10::/56', 64);
    expect([set.allocate(), set.allocate()]).toEqual(['fd00:10::/64', 'fd00:10:0:1::/64']);
  });

  it.each([
    ['10.0.0.0/33', 24, 'is not a range'],
    ['10.0.0.0/24', 16, 'is larger than'],
  ])('refuses %s with nodes of /%d', (range, size, message) => {
    expect(() => new CidrSet(range, size)).toThrow(message);
  });
});
