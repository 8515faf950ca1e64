import { expect, test } from 'vitest';
import type { core } from '#api';
import { readDnsConfig, serverAddress } from './dns-config-map.ts';
import { nameServersOf } from './resolv-conf.ts';

const read = (data: Record<string, string>) => readDnsConfig({ metadata: { name: 'kube-dns' }, data } as core.ConfigMap);

test('stub domains, name servers and hosts are read', () => {
  const config = read({
    stubDomains: '{"Corp.example.": ["10.0.0.1", "10.0.0.2:5353"]}',
    upstreamNameservers: '["1.2.3.4"]',
    hosts: '10.1.1.1 a.example b.example # comment\nfd00::1 a.example\n',
  });
  expect(config.problems).toEqual([]);
  expect([...config.stubDomains]).toEqual([['corp.example', ['10.0.0.1', '10.0.0.2:5353']]]);
  expect(config.upstreamNameservers).toEqual(['1.2.3.4']);
  expect([...config.hosts]).toEqual([
    ['a.example', ['10.1.1.1', 'fd00::1']],
    ['b.example', ['10.1.1.1']],
  ]);
});

test.each([
  [{ stubDomains: '{' }, 1],
  [{ stubDomains: '{"a": "10.0.0.1"}' }, 1],
  [{ upstreamNameservers: '["nowhere"]' }, 1],
  [{ hosts: 'not-an-address name' }, 1],
  [{}, 0],
])('errors name the part of the kube-dns ConfigMap that is invalid: %j', (data, problems) => {
  expect(read(data).problems).toHaveLength(problems);
});

test.each([
  ['10.0.0.1', { host: '10.0.0.1', port: 53 }],
  ['10.0.0.1:54', { host: '10.0.0.1', port: 54 }],
  ['fd00::1', { host: 'fd00::1', port: 53 }],
  ['[fd00::1]:54', { host: 'fd00::1', port: 54 }],
  ['10.0.0.1:0', undefined],
  ['name:53', undefined],
])('the address of a name server %s', (text, expected) => {
  expect(serverAddress(text)).toEqual(expected);
});

test('name servers come from resolv.conf in its order', () => {
  expect(nameServersOf('# x\nsearch a.b\nnameserver 10.0.0.2\nnameserver fe80::1%eth0\nnameserver bad\n')).toEqual([
    '10.0.0.2',
    'fe80::1%eth0',
  ]);
});
