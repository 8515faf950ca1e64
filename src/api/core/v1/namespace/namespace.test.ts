import { describe, expect, test } from 'vitest';
import { endpointsBehaviour } from '../endpoints/endpoints.behaviour.ts';
import type { Endpoints } from '../endpoints/endpoints.ts';
import { namespaceBehaviour } from './namespace.behaviour.ts';
import type { Namespace } from './namespace.ts';
import { validateNamespaceFinalizeUpdate } from './namespace.validation.ts';

const namespaces = namespaceBehaviour as Required<typeof namespaceBehaviour>;
const endpoints = endpointsBehaviour as Required<typeof endpointsBehaviour>;

describe('a namespace', () => {
  const namespace = (name: string, parts: Partial<Namespace> = {}): Namespace => namespaces.defaults({ metadata: { name }, ...parts });

  test('is labelled with its name', () => {
    expect(namespace('a').metadata.labels).toEqual({ 'kubernetes.io/metadata.name': 'a' });
  });

  test.each<[string, readonly string[]]>([
    ['a-1', []],
    ['a.b', ['metadata.name: Invalid value: "a.b": must not contain dots']],
    [
      'A',
      [
        "metadata.name: Invalid value: \"A\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
      ],
    ],
    [
      'x'.repeat(64),
      [
        'metadata.name: Invalid value: "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx": must be no more than 63 characters',
        'metadata.labels: Invalid value: "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx": must be no more than 63 bytes',
      ],
    ],
  ])('called %s', (name, errors) => {
    expect(namespaces.validate(namespace(name)).map(String)).toEqual(errors);
  });

  test('has finalizers with a domain', () => {
    const bad = namespace('a', { spec: { finalizers: ['kubernetes', 'bare', 'example.com/x'] } });
    expect(namespaces.validate(bad).map(String)).toEqual([
      'spec.finalizers: Invalid value: "bare": name is neither a standard finalizer name nor is it fully qualified',
    ]);
    expect(validateNamespaceFinalizeUpdate(bad, namespace('a')).map(String)).toEqual([
      'spec.finalizers[1]: Invalid value: "bare": name is neither a standard finalizer name nor is it fully qualified',
    ]);
  });

  test('is active until it is deleted, and then not any more', () => {
    const old = namespace('a');
    const deleted: Namespace = { ...old, metadata: { ...old.metadata, deletionTimestamp: '2030-01-01T00:00:00Z' } };
    const terminating = { phase: 'Terminating' };
    expect(namespaces.validateStatusUpdate({ ...old, status: terminating }, old).map(String)).toEqual([
      'status.Phase: Invalid value: "Terminating": may only be \'Active\' if `deletionTimestamp` is empty',
    ]);
    expect(namespaces.validateStatusUpdate({ ...deleted, status: terminating }, deleted).map(String)).toEqual([]);
    expect(namespaces.validateStatusUpdate({ ...deleted, status: { phase: 'Active' } }, deleted).map(String)).toEqual([
      'status.Phase: Invalid value: "Active": may only be \'Terminating\' if `deletionTimestamp` is not empty',
    ]);
  });

  test('prints its phase', () => {
    expect(namespaces.table.cells(namespace('a', { status: { phase: 'Active' } }), 0)).toEqual(['a', 'Active', '<unknown>']);
  });
});

describe('endpoints', () => {
  const object = (...subsets: NonNullable<Endpoints['subsets']>): Endpoints =>
    endpoints.defaults({ metadata: { name: 'a', namespace: 'ns' }, subsets });

  test('speak TCP unless told', () => {
    expect(object({ addresses: [{ ip: '10.0.0.1' }], ports: [{ port: 80 }] }).subsets?.[0]?.ports).toEqual([{ port: 80, protocol: 'TCP' }]);
  });

  test.each<[string, NonNullable<Endpoints['subsets']>, readonly string[]]>([
    ['of one address', [{ addresses: [{ ip: '10.0.0.1' }], ports: [{ port: 80 }] }], []],
    ['of no address', [{ ports: [{ port: 80 }] }], ['subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`']],
    [
      'of bad addresses',
      [{ addresses: [{ ip: 'x' }, { ip: '127.0.0.1' }, { ip: '169.254.0.1' }, { ip: '10.0.0.1', hostname: 'A', nodeName: 'B_' }] }],
      [
        'subsets[0].addresses[0].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
        'subsets[0].addresses[0].ip: Invalid value: "x": must be a valid IP address',
        'subsets[0].addresses[1].ip: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
        'subsets[0].addresses[2].ip: Invalid value: "169.254.0.1": may not be in the link-local range (169.254.0.0/16, fe80::/10)',
        "subsets[0].addresses[3].hostname: Invalid value: \"A\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
        "subsets[0].addresses[3].nodeName: Invalid value: \"B_\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
      ],
    ],
    [
      'of bad ports',
      [{ addresses: [{ ip: '10.0.0.1' }], ports: [{ port: 0 }, { port: 80, name: 'B', protocol: 'X' }] }],
      [
        'subsets[0].ports[0].name: Required value',
        'subsets[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive',
        "subsets[0].ports[1].name: Invalid value: \"B\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
        'subsets[0].ports[1].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"',
      ],
    ],
  ])('%s', (_, subsets, errors) => {
    expect(endpoints.validate(object(...subsets)).map(String)).toEqual(errors);
  });

  test('print the first addresses', () => {
    const addresses = [1, 2, 3, 4].map((n) => ({ ip: `10.0.0.${n}` }));
    expect(endpoints.table.cells(object({ addresses, ports: [{ port: 80 }] }), 0)).toEqual([
      'a',
      '10.0.0.1:80,10.0.0.2:80,10.0.0.3:80 + 1 more...',
      '<unknown>',
    ]);
    expect(endpoints.table.cells(object(), 0)).toEqual(['a', '<none>', '<unknown>']);
  });
});
