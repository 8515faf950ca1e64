import { describe, expect, test } from 'vitest';
import { Path } from '#machinery';
import {
  cidrWarnings,
  ipWarnings,
  validateCidr,
  validateEndpointIp,
  validateInterfaceAddress,
  validateIp,
  validateLegacyCidr,
  validateLegacyIp,
} from './ip.validation.ts';

const AT = Path.of('ip');
const texts = (errors: readonly unknown[]) => errors.map(String);

describe('addresses', () => {
  test.each<[string, readonly string[], readonly string[]]>([
    ['10.0.0.1', [], []],
    ['fd00::1', [], []],
    ['FD00::0:1', [], ['ip: Invalid value: "FD00::0:1": must be in canonical form ("fd00::1")']],
    [
      '010.0.0.1',
      ['ip: Invalid value: "010.0.0.1": must not have leading 0s'],
      ['ip: Invalid value: "010.0.0.1": must not have leading 0s'],
    ],
    [
      '::ffff:10.0.0.1',
      ['ip: Invalid value: "::ffff:10.0.0.1": must not be an IPv4-mapped IPv6 address'],
      ['ip: Invalid value: "::ffff:10.0.0.1": must not be an IPv4-mapped IPv6 address'],
    ],
    [
      '10.0.0',
      ['ip: Invalid value: "10.0.0": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'],
      ['ip: Invalid value: "10.0.0": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'],
    ],
  ])('%s', (text, legacy, strict) => {
    expect(texts(validateLegacyIp(AT, text))).toEqual(legacy);
    expect(texts(validateIp(AT, text))).toEqual(strict);
  });

  test('that were there before may stay', () => {
    expect(validateLegacyIp(AT, '010.0.0.1', ['010.0.0.1'])).toEqual([]);
  });

  test.each<[string, readonly string[]]>([
    ['10.0.0.1', []],
    ['0.0.0.0', ['ip: Invalid value: "0.0.0.0": may not be unspecified (0.0.0.0)']],
    ['::1', ['ip: Invalid value: "::1": may not be in the loopback range (127.0.0.0/8, ::1/128)']],
    ['fe80::1', ['ip: Invalid value: "fe80::1": may not be in the link-local range (169.254.0.0/16, fe80::/10)']],
    ['224.0.0.7', ['ip: Invalid value: "224.0.0.7": may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)']],
    ['ff02::1', ['ip: Invalid value: "ff02::1": may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)']],
    ['x', ['ip: Invalid value: "x": must be a valid IP address']],
  ])('of endpoints: %s', (text, errors) => {
    expect(texts(validateEndpointIp(AT, text))).toEqual(errors);
  });

  test.each<[string, readonly string[]]>([
    ['10.0.0.7/24', []],
    ['FD00::7/64', ['ip: Invalid value: "FD00::7/64": must be in canonical form ("fd00::7/64")']],
    ['::ffff:10.0.0.7/120', ['ip: Invalid value: "::ffff:10.0.0.7/120": must be in canonical form ("10.0.0.7/24")']],
    ['10.0.0.7', ['ip: Invalid value: "10.0.0.7": must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)']],
  ])('of interfaces: %s', (text, errors) => {
    expect(texts(validateInterfaceAddress(AT, text))).toEqual(errors);
  });
});

describe('ranges', () => {
  test.each<[string, readonly string[], readonly string[]]>([
    ['10.0.0.0/8', [], []],
    [
      '10.0.0.1/8',
      ['ip: Invalid value: "10.0.0.1/8": must not have bits set beyond the prefix length'],
      ['ip: Invalid value: "10.0.0.1/8": must not have bits set beyond the prefix length'],
    ],
    [
      '10.0.0.0/08',
      ['ip: Invalid value: "10.0.0.0/08": must not have leading 0s in IP or prefix length'],
      ['ip: Invalid value: "10.0.0.0/08": must not have leading 0s in IP or prefix length'],
    ],
    ['FD00::/64', [], ['ip: Invalid value: "FD00::/64": must be in canonical form ("fd00::/64")']],
    [
      '::ffff:10.0.0.0/104',
      ['ip: Invalid value: "::ffff:10.0.0.0/104": must not have an IPv4-mapped IPv6 address'],
      ['ip: Invalid value: "::ffff:10.0.0.0/104": must not have an IPv4-mapped IPv6 address'],
    ],
    [
      '10.0.0.0/33',
      ['ip: Invalid value: "10.0.0.0/33": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'],
      ['ip: Invalid value: "10.0.0.0/33": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'],
    ],
  ])('%s', (text, legacy, strict) => {
    expect(texts(validateLegacyCidr(AT, text))).toEqual(legacy);
    expect(texts(validateCidr(AT, text))).toEqual(strict);
  });
});

test.each<[string, readonly string[], readonly string[]]>([
  ['10.0.0.1', [], []],
  ['FD00::1', ['ip: IPv6 address "FD00::1" should be in RFC 5952 canonical format ("fd00::1")'], []],
  ['010.0.0.1', ['ip: non-standard IP address "010.0.0.1" is invalid: use "10.0.0.1"'], []],
  ['10.0.0.1/8', [], ['ip: CIDR value "10.0.0.1/8" is ambiguous in this context (should be "10.0.0.0/8" or "10.0.0.1/32"?)']],
  ['FD00::/64', [], ['ip: IPv6 CIDR value "FD00::/64" should be in RFC 5952 canonical format ("fd00::/64")']],
  ['::ffff:10.0.0.0/104', [], ['ip: non-standard CIDR value "::ffff:10.0.0.0/104" is invalid: use "10.0.0.0/8"']],
])('warnings of %s', (text, ofAddress, ofRange) => {
  expect(ipWarnings(AT, text)).toEqual(ofAddress);
  expect(cidrWarnings(AT, text)).toEqual(ofRange);
});
