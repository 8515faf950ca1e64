import { describe, expect, it } from 'vitest';
import { formatCidr, formatIp, isDualStackPair, networkContains, parseCidr, parseIp } from './ip-address.ts';

describe('parseIp', () => {
  it.each([
    ['10.0.0.1', '10.0.0.1', 4],
    ['010.000.0.1', '10.0.0.1', 4],
    ['::', '::', 6],
    ['::1', '::1', 6],
    ['1::', '1::', 6],
    ['2001:DB8::0001', '2001:db8::1', 6],
    ['fe80:0:0:0:0:0:0:0abc', 'fe80::abc', 6],
    ['1:0:0:2:0:0:0:3', '1:0:0:2::3', 6],
    ['1:0:2:3:4:5:6:7', '1:0:2:3:4:5:6:7', 6],
    ['::ffff:1.2.3.4', '1.2.3.4', 4],
    ['64:ff9b::1.2.3.4', '64:ff9b::102:304', 6],
    ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0', 6],
  ])('reads %s as %s', (text, canonical, family) => {
    const ip = parseIp(text);
    expect(ip && formatIp(ip)).toBe(canonical);
    expect(ip?.family).toBe(family);
  });

  it.each([
    '',
    '1',
    '1.2.3',
    '1.2.3.4.5',
    '256.0.0.1',
    '1.2.3.-4',
    '1..2.3',
    ' 1.2.3.4',
    ':',
    ':1',
    '1:',
    ':::',
    '1::2::3',
    '12345::',
    'g::',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4:5:6:7::8',
    '1.2.3.4::',
    '::1.2.3',
    'fe80::1%eth0',
  ])('refuses %j', (text) => {
    expect(parseIp(text)).toBeUndefined();
  });

  it('tells zeros and disguises that strict parsers refuse', () => {
    expect(parseIp('010.0.0.1')).toMatchObject({ leadingZeros: true });
    expect(parseIp('00001::')).toMatchObject({ leadingZeros: true });
    expect(parseIp('::ffff:10.0.0.1')).toMatchObject({ mapped: true, leadingZeros: false });
    expect(parseIp('10.0.0.1')).toMatchObject({ mapped: false, leadingZeros: false });
  });
});

describe('parseCidr', () => {
  it.each([
    ['10.0.0.0/8', '10.0.0.0/8'],
    ['10.1.2.3/8', '10.0.0.0/8'],
    ['10.1.2.3/032', '10.1.2.3/32'],
    ['2001:db8::ffff/32', '2001:db8::/32'],
    ['::/0', '::/0'],
    ['::ffff:1.2.3.4/120', '1.2.3.0/24'],
  ])('reads %s as the network %s', (text, canonical) => {
    const network = parseCidr(text);
    expect(network && formatCidr(network)).toBe(canonical);
  });

  it.each(['10.0.0.0', '10.0.0.0/', '10.0.0.0/33', '::/129', '10.0.0.0/-1', '10.0.0.0/8/8', 'x/8'])('refuses %j', (text) => {
    expect(parseCidr(text)).toBeUndefined();
  });

  it('knows what it contains', () => {
    const network = parseCidr('10.96.0.0/16')!;
    expect(networkContains(network, parseIp('10.96.255.255')!)).toBe(true);
    expect(networkContains(network, parseIp('10.97.0.0')!)).toBe(false);
    expect(networkContains(network, parseIp('::1')!)).toBe(false);
  });
});

it('a dual-stack pair has one address of each family', () => {
  expect(isDualStackPair(['10.0.0.1', '::1'], parseIp)).toBe(true);
  expect(isDualStackPair(['10.0.0.1', '10.0.0.2'], parseIp)).toBe(false);
  expect(isDualStackPair(['10.0.0.1', 'x'], parseIp)).toBeUndefined();
});
