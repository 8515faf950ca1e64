import { expect, test } from 'vitest';
import { advertisedAddress, externalHost } from './advertised-address.ts';

const hostAddress = '192.0.2.7';

test.each([
  ['the address that it listens on', { hostAddress, listen: { host: '192.0.2.1' } }, '192.0.2.1'],
  ['that of the machine when it listens on loopback', { hostAddress, listen: { host: '127.0.0.1' } }, hostAddress],
  ['that of the machine when it listens everywhere', { hostAddress, listen: { host: '::' } }, hostAddress],
  ['what it is told to', { hostAddress, advertiseAddress: '127.0.0.1', listen: { host: '127.0.0.1' } }, '127.0.0.1'],
  ['loopback on a machine without a network', { listen: { host: '127.0.0.1' } }, '127.0.0.1'],
  ['loopback when it does not listen', { hostAddress }, '127.0.0.1'],
] as const)('a server advertises %s', (_what, config, address) => {
  expect(advertisedAddress(config)).toBe(address);
});

const everywhere = { host: '0.0.0.0' };

test.each([
  ['the external name', { externalHostname: 'api.example.com', advertiseAddress: '192.0.2.1', listen: everywhere }, 'api.example.com'],
  ['the advertised address', { advertiseAddress: '192.0.2.1', listen: everywhere }, '192.0.2.1'],
  ['the address of the machine when it listens everywhere', { hostAddress, listen: everywhere }, hostAddress],
  ['the address that it listens on', { hostAddress, listen: { host: '127.0.0.1' } }, '127.0.0.1'],
  ['an IPv6 address in brackets', { listen: { host: '2001:db8::1' } }, '[2001:db8::1]'],
] as const)('clients are sent to %s', (_what, config, host) => {
  expect(externalHost(config)).toBe(host);
});
