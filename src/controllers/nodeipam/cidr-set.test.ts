import { describe, expect, it } from 'vitest';
import { CidrSet } from './cidr-set.ts';

function allocate(set: CidrSet): string | undefined {
  const cidr = set.nextFree();
  if (cidr !== undefined) set.allocate(cidr);
  return cidr;
}

describe('a CIDR set', () => {
  it('allocates the next free subnet, and released ones after all others', () => {
    const set = new CidrSet('10.244.0.0/22', 24);
    expect([allocate(set), allocate(set)]).toEqual(['10.244.0.0/24', '10.244.1.0/24']);
    set.release('10.244.0.0/24');
    expect([allocate(set), allocate(set), allocate(set)]).toEqual(['10.244.2.0/24', '10.244.3.0/24', '10.244.0.0/24']);
    expect(allocate(set)).toBeUndefined();
  });

  it('skips subnets that overlap an occupied CIDR of any size', () => {
    const set = new CidrSet('10.0.0.0/21', 24);
    for (const cidr of ['10.0.0.128/25', '10.0.2.0/23', '192.168.0.0/16', 'fd00::/64']) set.occupy(cidr);
    expect([allocate(set), allocate(set), allocate(set)]).toEqual(['10.0.1.0/24', '10.0.4.0/24', '10.0.5.0/24']);
  });

  it('allocates IPv6 subnets', () => {
    const set = new CidrSet('fd00:10::/56', 64);
    expect([allocate(set), allocate(set)]).toEqual(['fd00:10::/64', 'fd00:10:0:1::/64']);
  });

  it.each([
    ['10.0.0.0/33', 24, 'is not a range'],
    ['10.0.0.0/24', 16, 'is larger than'],
  ])('rejects the range %s with a mask size of %d', (range, size, message) => {
    expect(() => new CidrSet(range, size)).toThrow(message);
  });
});
