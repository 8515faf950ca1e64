import { describe, expect, test } from 'vitest';
import { ingressBehaviour } from './ingress.behaviour.ts';
import type { Ingress, IngressSpec } from './ingress.ts';
import { ingressClassBehaviour } from './ingress-class.behaviour.ts';
import { ipAddressBehaviour } from './ip-address.behaviour.ts';
import { networkPolicyBehaviour } from './network-policy.behaviour.ts';
import type { NetworkPolicySpec } from './network-policy.ts';
import { serviceCIDRBehaviour } from './service-cidr.behaviour.ts';

const ingresses = ingressBehaviour as Required<typeof ingressBehaviour>;
const classes = ingressClassBehaviour as Required<typeof ingressClassBehaviour>;
const addresses = ipAddressBehaviour as Required<typeof ipAddressBehaviour>;
const policies = networkPolicyBehaviour as Required<typeof networkPolicyBehaviour>;
const cidrs = serviceCIDRBehaviour as Required<typeof serviceCIDRBehaviour>;
const metadata = { name: 'a', namespace: 'ns' };
const BACKEND = { service: { name: 's', port: { number: 80 } } };

describe('an ingress', () => {
  const ingress = (spec: IngressSpec): Ingress => ({ metadata, spec });
  const path = (parts: object) => ({
    rules: [{ host: 'example.com', http: { paths: [{ path: '/', pathType: 'Prefix', backend: BACKEND, ...parts }] } }],
  });

  test.each<[string, IngressSpec, readonly string[]]>([
    ['with a rule', path({}), []],
    ['with nothing', {}, ['spec: Invalid value: null: either `defaultBackend` or `rules` must be specified']],
    [
      'for a host that is an address',
      { rules: [{ host: '10.0.0.1' }] },
      ['spec.rules[0].host: Invalid value: "10.0.0.1": must be a DNS name, not an IP address'],
    ],
    [
      'for a bad wildcard',
      { rules: [{ host: '*.' }, { host: 'a.*.b' }] },
      [
        "spec.rules[0].host: Invalid value: \"*.\": a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        "spec.rules[1].host: Invalid value: \"a.*.b\": a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
      ],
    ],
    [
      'without a type of path',
      path({ pathType: undefined }),
      ['spec.rules[0].http.paths[0].pathType: Required value: pathType must be specified'],
    ],
    ['with a relative path', path({ path: 'x' }), ['spec.rules[0].http.paths[0].path: Invalid value: "x": must be an absolute path']],
    [
      'with paths that climb',
      path({ path: '/a/../b//c' }),
      [
        'spec.rules[0].http.paths[0].path: Invalid value: "/a/../b//c": must not contain \'//\'',
        'spec.rules[0].http.paths[0].path: Invalid value: "/a/../b//c": must not contain \'/../\'',
      ],
    ],
    [
      'without a backend',
      path({ backend: {} }),
      ['spec.rules[0].http.paths[0].backend: Invalid value: "": resource or service backend is required'],
    ],
    [
      'with two backends',
      path({ backend: { ...BACKEND, resource: { kind: 'Bucket', name: 'b' } } }),
      ['spec.rules[0].http.paths[0].backend: Invalid value: "": cannot set both resource and service backends'],
    ],
    [
      'with a port by name and number',
      path({ backend: { service: { name: 's', port: { number: 80, name: 'http' } } } }),
      ['spec.rules[0].http.paths[0].backend: Invalid value: "": cannot set both port name & port number'],
    ],
    [
      'with a bad class',
      { defaultBackend: BACKEND, ingressClassName: 'Not A Class' },
      [
        "spec.ingressClassName: Invalid value: \"Not A Class\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
      ],
    ],
    [
      'with bad hosts and a bad secret for TLS',
      { defaultBackend: BACKEND, tls: [{ hosts: ['*.example.com', 'A'], secretName: 'B_' }] },
      [
        "spec.tls[0].hosts[1]: Invalid value: \"A\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        "spec.tls[0].secretName: Invalid value: \"B_\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
      ],
    ],
  ])('%s', (_, spec, errors) => {
    expect(ingresses.validate(ingress(spec)).map(String)).toEqual(errors);
  });

  test('names its class in the old way with a warning, and in both ways only alike', () => {
    const annotated: Ingress = { ...ingress(path({})), metadata: { ...metadata, annotations: { 'kubernetes.io/ingress.class': 'x' } } };
    const withClass = (ingressClassName: string): Ingress => ({ ...annotated, spec: { ...path({}), ingressClassName } });
    expect(ingresses.warnings(annotated)).toEqual([
      'annotation "kubernetes.io/ingress.class" is deprecated, please use \'spec.ingressClassName\' instead',
    ]);
    expect(ingresses.warnings(withClass('x'))).toEqual([]);
    expect(ingresses.validate(withClass('x')).map(String)).toEqual([]);
    expect(ingresses.validate(withClass('y')).map(String)).toEqual([
      'annotations.kubernetes.io/ingress.class: Invalid value: "x": must match `ingressClassName` when both are specified',
    ]);
  });

  test('has a status of sane addresses', () => {
    const old = ingress(path({}));
    const status = { loadBalancer: { ingress: [{ ip: 'x' }, { hostname: '10.0.0.1' }] } };
    expect(ingresses.validateStatusUpdate({ ...old, status }, old).map(String)).toEqual([
      'status.loadBalancer.ingress[0].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
      'status.loadBalancer.ingress[1].hostname: Invalid value: "10.0.0.1": must be a DNS name, not an IP address',
    ]);
  });

  test('prints hosts, addresses and ports', () => {
    const status = { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } };
    expect(ingresses.table.cells({ ...ingress({ ...path({}), tls: [{}], ingressClassName: 'c' }), status }, 0)).toEqual([
      'a',
      'c',
      'example.com',
      '192.0.2.1',
      '80, 443',
      '<unknown>',
    ]);
    expect(ingresses.table.cells(ingress({ defaultBackend: BACKEND }), 0)).toEqual(['a', '<none>', '*', '', '80', '<unknown>']);
  });
});

describe('a class of ingresses', () => {
  test.each<[string, object, readonly string[]]>([
    ['with a controller', { controller: 'example.com/ingress' }, []],
    [
      'with a controller without a domain',
      { controller: 'ingress' },
      ['spec.controller: Invalid value: "ingress": must be a domain-prefixed path (such as "acme.io/foo")'],
    ],
    ['with parameters of the cluster', { controller: 'example.com/i', parameters: { kind: 'P', name: 'p' } }, []],
    [
      'with parameters of a namespace that it does not name',
      { controller: 'example.com/i', parameters: { kind: 'P', name: 'p', scope: 'Namespace' } },
      ["spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'"],
    ],
    [
      'with parameters of an unknown scope',
      { controller: 'example.com/i', parameters: { kind: 'P', name: 'p', scope: 'Galaxy' } },
      ['spec.parameters.scope: Unsupported value: "Galaxy": supported values: "Cluster", "Namespace"'],
    ],
  ])('%s', (_, spec, errors) => {
    expect(classes.validate(classes.defaults({ metadata: { name: 'a' }, spec })).map(String)).toEqual(errors);
  });

  test('keeps its controller', () => {
    const before = { metadata: { name: 'a' }, spec: { controller: 'example.com/a' } };
    expect(classes.validateUpdate({ ...before, spec: { controller: 'example.com/b' } }, before).map(String)).toEqual([
      'spec.controller: Invalid value: "example.com/b": field is immutable',
    ]);
  });
});

describe('a network policy', () => {
  const policy = (spec: NetworkPolicySpec) => policies.defaults({ metadata, spec });

  test('is about incoming traffic, and outgoing where it says so', () => {
    expect(policy({}).spec?.policyTypes).toEqual(['Ingress']);
    expect(policy({ egress: [] }).spec?.policyTypes).toEqual(['Ingress']);
    expect(policy({ egress: [{ ports: [{ port: 53 }] }] }).spec).toEqual({
      egress: [{ ports: [{ port: 53, protocol: 'TCP' }] }],
      policyTypes: ['Ingress', 'Egress'],
    });
  });

  test.each<[string, NetworkPolicySpec, readonly string[]]>([
    ['of everything', { podSelector: {}, ingress: [{}] }, []],
    [
      'with bad ports',
      { ingress: [{ ports: [{ port: 0 }, { port: 'UPPER' }, { protocol: 'ICMP', port: 1 }] }] },
      [
        'spec.ingress[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive',
        'spec.ingress[0].ports[1].port: Invalid value: "UPPER": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
        'spec.ingress[0].ports[1].port: Invalid value: "UPPER": must contain at least one letter (a-z)',
        'spec.ingress[0].ports[2].protocol: Unsupported value: "ICMP": supported values: "TCP", "UDP", "SCTP"',
      ],
    ],
    [
      'with bad ranges of ports',
      { ingress: [{ ports: [{ endPort: 2 }, { port: 80, endPort: 79 }, { port: 'http', endPort: 90 }] }] },
      [
        'spec.ingress[0].ports[0].endPort: Invalid value: 2: may not be specified when `port` is not specified',
        'spec.ingress[0].ports[1].endPort: Invalid value: 80: must be greater than or equal to `port`',
        'spec.ingress[0].ports[2].endPort: Invalid value: 90: may not be specified when `port` is non-numeric',
      ],
    ],
    ['with a peer that is none', { ingress: [{ from: [{}] }] }, ['spec.ingress[0].from[0]: Required value: must specify a peer']],
    [
      'with a peer that is too many',
      { ingress: [{ from: [{ podSelector: {}, ipBlock: { cidr: '10.0.0.0/8' } }] }] },
      ['spec.ingress[0].from[0]: Forbidden: may not specify both ipBlock and another peer'],
    ],
    [
      'with a block that is none',
      { egress: [{ to: [{ ipBlock: { cidr: '' } }, { ipBlock: { cidr: '10.0.0.0/8', except: ['11.0.0.0/8', 'x'] } }] }] },
      [
        'spec.egress[0].to[0].ipBlock.cidr: Required value',
        'spec.egress[0].to[1].ipBlock.except[0]: Invalid value: "11.0.0.0/8": must be a strict subset of `cidr`',
        'spec.egress[0].to[1].ipBlock.except[1]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
      ],
    ],
    [
      'of unknown types',
      { policyTypes: ['Ingress', 'Sideways'] },
      ['spec.policyTypes[1]: Unsupported value: "Sideways": supported values: "Ingress", "Egress"'],
    ],
    [
      'of too many types',
      { policyTypes: ['Ingress', 'Egress', 'Ingress'] },
      ['spec.policyTypes: Invalid value: ["Ingress","Egress","Ingress"]: may not specify more than two policyTypes'],
    ],
    [
      'with a bad selector',
      { podSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] } },
      ["spec.podSelector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'"],
    ],
  ])('%s', (_, spec, errors) => {
    expect(policies.validate(policy(spec)).map(String)).toEqual(errors);
  });

  test('prints which pods it is about', () => {
    expect(policies.table.cells(policy({ podSelector: { matchLabels: { a: 'b' } } }), 0)).toEqual(['a', 'a=b', '<unknown>']);
    expect(policies.table.cells(policy({}), 0)).toEqual(['a', '<none>', '<unknown>']);
  });
});

describe('ranges and addresses of services', () => {
  test.each<[readonly string[], readonly string[]]>([
    [['10.0.0.0/24'], []],
    [[], ['spec.cidrs: Required value: at least one CIDR required']],
    [['10.0.0.1/24'], ['spec.cidrs[0]: Invalid value: "10.0.0.1/24": must not have bits set beyond the prefix length']],
    [
      ['10.0.0.0/24', '10.1.0.0/24'],
      [
        'spec.cidrs: Invalid value: ["10.0.0.0/24","10.1.0.0/24"]: may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64',
      ],
    ],
    [
      ['10.0.0.0/24', 'fd00::/112', 'fd01::/112'],
      ['spec.cidrs: Invalid value: {"CIDRs":["10.0.0.0/24","fd00::/112","fd01::/112"]}: may only hold up to 2 values'],
    ],
    [['FD00::/112'], ['spec.cidrs[0]: Invalid value: "FD00::/112": must be in canonical form ("fd00::/112")']],
  ])('a range of %j', (list, errors) => {
    expect(cidrs.validate({ metadata: { name: 'a' }, spec: { cidrs: list } }).map(String)).toEqual(errors);
  });

  test('ranges stay as they are, but a second one may join', () => {
    const range = (...list: readonly string[]) => ({ metadata: { name: 'a' }, spec: { cidrs: list } });
    expect(cidrs.validateUpdate(range('10.0.0.0/24', 'fd00::/112'), range('10.0.0.0/24')).map(String)).toEqual([]);
    expect(cidrs.validateUpdate(range('10.1.0.0/24'), range('10.0.0.0/24')).map(String)).toEqual([
      'spec.cidrs[0]: Invalid value: "10.1.0.0/24": field is immutable',
    ]);
  });

  test.each<[string, object, readonly string[]]>([
    ['10.0.0.1', { parentRef: { resource: 'services', name: 's', namespace: 'ns' } }, []],
    [
      '010.0.0.1',
      { parentRef: { resource: 'services', name: 's' } },
      ['metadata.name: Invalid value: "010.0.0.1": must not have leading 0s'],
    ],
    [
      'nonsense',
      {},
      [
        'metadata.name: Invalid value: "nonsense": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
        'spec.parentRef: Required value',
      ],
    ],
    [
      'fd00::1',
      { parentRef: { resource: '', name: '', group: 'A_' } },
      [
        "spec.parentRef.group: Invalid value: \"A_\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        'spec.parentRef.resource: Required value',
        'spec.parentRef.name: Required value',
      ],
    ],
  ])('the address %s', (name, spec, errors) => {
    expect(addresses.validate({ metadata: { name }, spec }).map(String)).toEqual(errors);
  });

  test('an address shows its age in a cell that no column names', () => {
    const spec = { parentRef: { resource: 'services', namespace: 'ns', name: 's' } };
    expect(addresses.table.columns.map(({ name }) => name)).toEqual(['Name', 'ParentRef']);
    expect(addresses.table.cells({ metadata: { name: '10.0.0.1' }, spec }, 0)).toEqual(['10.0.0.1', 'services/ns/s', '<unknown>']);
  });

  test('an address stays with whom it was given to', () => {
    const address = (name: string) => ({ metadata: { name: '10.0.0.1' }, spec: { parentRef: { resource: 'services', name } } });
    expect(addresses.validateUpdate(address('b'), address('a')).map(String)).toEqual([
      'spec.parentRef: Invalid value: {"Group":"","Resource":"services","Namespace":"","Name":"b"}: field is immutable',
    ]);
  });
});
