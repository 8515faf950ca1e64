import { expect, test } from 'vitest';
import { endpointSliceBehaviour } from './endpoint-slice.behaviour.ts';
import type { EndpointSlice } from './endpoint-slice.ts';

const { defaults, validate, validateUpdate, warnings, table } = endpointSliceBehaviour as Required<typeof endpointSliceBehaviour>;
const slice = (parts: Partial<EndpointSlice>): EndpointSlice =>
  defaults({
    metadata: { name: 'a', namespace: 'ns' },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.0.0.1'] }],
    ports: [{ port: 80 }],
    ...parts,
  });

test('endpoint ports default to protocol TCP and an empty name', () => {
  expect(slice({}).ports).toEqual([{ port: 80, name: '', protocol: 'TCP' }]);
});

test.each<[string, Partial<EndpointSlice>, readonly string[]]>([
  ['that is complete', {}, []],
  ['without a type', { addressType: '' }, ['addressType: Required value']],
  ['of an unknown type', { addressType: 'Post' }, ['addressType: Unsupported value: "Post": supported values: "FQDN", "IPv4", "IPv6"']],
  [
    'with addresses of another family',
    { endpoints: [{ addresses: ['fd00::1'] }] },
    ['endpoints[0].addresses: Invalid value: "fd00::1": must be an IPv4 address'],
  ],
  [
    'of names',
    { addressType: 'FQDN', endpoints: [{ addresses: ['a.example.com', 'NOT'] }] },
    [
      "endpoints[0].addresses[1]: Invalid value: \"NOT\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ],
  ],
  [
    'with an endpoint without addresses',
    { endpoints: [{ addresses: [] }] },
    ['endpoints[0].addresses: Required value: must contain at least 1 address'],
  ],
  [
    'with addresses that mean this host',
    { endpoints: [{ addresses: ['127.0.0.1'] }] },
    ['endpoints[0].addresses[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)'],
  ],
  [
    'with a bad host and node',
    { endpoints: [{ addresses: ['10.0.0.1'], hostname: 'A', nodeName: 'B_' }] },
    [
      "endpoints[0].nodeName: Invalid value: \"B_\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
      "endpoints[0].hostname: Invalid value: \"A\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
    ],
  ],
  [
    'with bad ports',
    { ports: [{ name: 'a' }, { name: 'a', port: 80, protocol: 'X' }, { name: 'B_', port: 1, appProtocol: 'no spaces' }] },
    [
      'ports[1].name: Duplicate value: "a"',
      'ports[1].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"',
      "ports[2].name: Invalid value: \"B_\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
      "ports[2].appProtocol: Invalid value: \"no spaces\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
    ],
  ],
  [
    'with bad hints',
    { endpoints: [{ addresses: ['10.0.0.1'], hints: { forZones: [{ name: '' }, { name: 'a' }, { name: 'a' }] } }] },
    ['endpoints[0].hints.forZones[2].name: Duplicate value: "a"'],
  ],
])('a slice %s', (_, parts, errors) => {
  expect(validate(slice(parts)).map(String)).toEqual(errors);
});

test('addressType is immutable', () => {
  expect(validateUpdate(slice({ addressType: 'IPv6', endpoints: [] }), slice({ endpoints: [] })).map(String)).toEqual([
    'addressType: Invalid value: "IPv6": field is immutable',
  ]);
});

test('an endpoint slice with names or unusual address spelling draws warnings', () => {
  expect(warnings(slice({ addressType: 'FQDN', endpoints: [] }))).toEqual(['spec.addressType: FQDN endpoints are deprecated']);
  expect(warnings(slice({ addressType: 'IPv6', endpoints: [{ addresses: ['FD00::1'] }] }))).toEqual([
    'endpoints[0].addresses[0]: IPv6 address "FD00::1" should be in RFC 5952 canonical format ("fd00::1")',
  ]);
});

test('the table of endpoint slices shows ports and the first addresses', () => {
  const endpoints = [1, 2, 3, 4].map((n) => ({ addresses: [`10.0.0.${n}`] }));
  expect(table.cells(slice({ endpoints, ports: [{ name: 'a', port: 80 }, {}] }), 0)).toEqual([
    'a',
    'IPv4',
    '80,',
    '10.0.0.1,10.0.0.2,10.0.0.3 + 1 more...',
    '<unknown>',
  ]);
  expect(table.cells(slice({ endpoints: [], ports: [] }), 0)).toEqual(['a', 'IPv4', '<unset>', '<unset>', '<unknown>']);
});
