import { expect, test } from 'vitest';
import { parseEgressConfiguration } from './egress-configuration.ts';

const HEAD = 'apiVersion: apiserver.k8s.io/v1beta1\nkind: EgressSelectorConfiguration\negressSelections:\n';
const selection = (connection: string, name = 'cluster') => `- name: ${name}\n  connection: ${connection}\n`;

test('each egress selection has its own connection', () => {
  const text = [
    selection('{proxyProtocol: Direct}', 'etcd'),
    selection('{proxyProtocol: GRPC, transport: {uds: {udsName: /run/proxy.sock}}}'),
    selection('{proxyProtocol: HTTPConnect, transport: {tcp: {url: "http://127.0.0.1:8131"}}}', 'controlPlane'),
  ].join('');
  expect([...parseEgressConfiguration(HEAD + text)]).toEqual([
    ['etcd', { protocol: 'Direct' }],
    ['cluster', { protocol: 'GRPC', socketPath: '/run/proxy.sock' }],
    ['controlplane', { protocol: 'HTTPConnect', url: 'http://127.0.0.1:8131', tls: undefined }],
  ]);
});

test.each([
  [
    '{proxyProtocol: Direct, transport: {}}',
    'service.connection.transport: Invalid value: "direct": config must be absent for direct connect',
  ],
  ['{proxyProtocol: HTTPConnect}', 'service.connection.transport: Required value: transport must be set for HTTPConnect'],
  ['{proxyProtocol: HTTPConnect, transport: {}}', 'service.connection.tcp: Required value: One of TCP or UDS must be set'],
  [
    '{proxyProtocol: HTTPConnect, transport: {tcp: {url: "ftp://x"}}}',
    'service.connection.url: Invalid value: "ftp://x": supported connection protocols are http:// and https://',
  ],
  [
    '{proxyProtocol: HTTPConnect, transport: {tcp: {url: "https://x"}}}',
    'service.connection.tlsConfig: Required value: TLSConfig must be present when using HTTPS',
  ],
  [
    '{proxyProtocol: HTTPConnect, transport: {uds: {}}}',
    'service.connection.udsName: Invalid value: "nil": must be present for UDS connections',
  ],
  ['{proxyProtocol: GRPC, transport: {tcp: {url: "http://x"}}}', 'service.connection.uds: Required value: UDS must be set with GRPC'],
  ['{proxyProtocol: SOCKS}', 'service.connection.protocol: Unsupported value: "SOCKS": supported values: "Direct", "HTTPConnect", "GRPC"'],
])('%s is refused', (connection, message) => {
  expect(() => parseEgressConfiguration(HEAD + selection(connection))).toThrow(message);
});

test('an egress selection has a unique, known name', () => {
  const twice = selection('{proxyProtocol: Direct}') + selection('{proxyProtocol: Direct}', 'Cluster');
  expect(() => parseEgressConfiguration(HEAD + twice)).toThrow('service.connection[1]: Duplicate value: "cluster"');
  expect(() => parseEgressConfiguration(HEAD + selection('{proxyProtocol: Direct}', 'moon'))).toThrow(
    'service.connection: Unsupported value: "moon": supported values: "cluster", "controlplane", "etcd"',
  );
  expect(() => parseEgressConfiguration(`${HEAD}- {name: etcd, via: x, connection: {proxyProtocol: Direct}}\n`)).toThrow('unknown field');
});
