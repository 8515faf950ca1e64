import { describe, expect, test } from 'vitest';
import { serviceBehaviour } from './service.behaviour.ts';
import type { Service, ServicePort, ServiceSpec } from './service.ts';

const { defaults, validate, validateUpdate, validateStatusUpdate, warnings, table } = serviceBehaviour as Required<typeof serviceBehaviour>;
const IPS: ServiceSpec = { clusterIP: '10.96.0.7', clusterIPs: ['10.96.0.7'], ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' };
const HTTP: ServicePort = { port: 80 };

function service(spec: Partial<ServiceSpec>, metadata: Service['metadata'] = { name: 'a', namespace: 'ns' }): Service {
  return defaults({ metadata, spec: { ports: [HTTP], ...spec } });
}

const errorsOf = (spec: Partial<ServiceSpec>) => validate(service({ ...IPS, ...spec })).map(String);

describe('defaults', () => {
  test.each<[string, Partial<ServiceSpec>, unknown]>([
    [
      'an internal service',
      {},
      {
        ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }],
        type: 'ClusterIP',
        sessionAffinity: 'None',
        internalTrafficPolicy: 'Cluster',
      },
    ],
    [
      'a name in DNS',
      { type: 'ExternalName', externalName: 'example.com' },
      {
        ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }],
        type: 'ExternalName',
        externalName: 'example.com',
        sessionAffinity: 'None',
      },
    ],
    [
      'sticky clients',
      { sessionAffinity: 'ClientIP' },
      {
        ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }],
        sessionAffinity: 'ClientIP',
        type: 'ClusterIP',
        sessionAffinityConfig: { clientIP: { timeoutSeconds: 10800 } },
        internalTrafficPolicy: 'Cluster',
      },
    ],
    [
      'a load balancer',
      { type: 'LoadBalancer', ports: [{ port: 443, protocol: 'UDP', targetPort: 'https' }] },
      {
        ports: [{ port: 443, protocol: 'UDP', targetPort: 'https' }],
        type: 'LoadBalancer',
        sessionAffinity: 'None',
        externalTrafficPolicy: 'Cluster',
        internalTrafficPolicy: 'Cluster',
        allocateLoadBalancerNodePorts: true,
      },
    ],
    [
      'a node port',
      { type: 'NodePort' },
      {
        ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }],
        type: 'NodePort',
        sessionAffinity: 'None',
        externalTrafficPolicy: 'Cluster',
        internalTrafficPolicy: 'Cluster',
      },
    ],
  ])('of %s', (_, spec, filled) => {
    expect(service(spec).spec).toEqual(filled);
  });

  test('are not filled in twice', () => {
    const once = service({ type: 'LoadBalancer', sessionAffinity: 'ClientIP' });
    expect(defaults(once)).toBe(once);
  });
});

test('a small service is valid once it has its defaults', () => {
  expect(errorsOf({})).toEqual([]);
});

test('a service may start with a digit, but may not have dots', () => {
  expect(validate(service(IPS, { name: '1a', namespace: 'ns' })).map(String)).toEqual([]);
  expect(validate(service(IPS, { name: 'a.b', namespace: 'ns' })).map(String)).toEqual([
    'metadata.name: Invalid value: "a.b": must not contain dots',
  ]);
});

describe('validation', () => {
  test.each<[string, Partial<ServiceSpec>, readonly string[]]>([
    ['no ports', { ports: [] }, ['spec.ports: Required value']],
    [
      'an unknown type',
      { type: 'Magic' },
      ['spec.type: Unsupported value: "Magic": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"'],
    ],
    [
      'bad ports',
      { ports: [{ port: 0 }, { port: 70000, name: 'b', protocol: 'ICMP' }, { port: 1, name: 'b', targetPort: 'Not A Port' }] },
      [
        'spec.ports[0].name: Required value',
        'spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive',
        'spec.ports[0].targetPort: Invalid value: 0: must be between 1 and 65535, inclusive',
        'spec.ports[1].port: Invalid value: 70000: must be between 1 and 65535, inclusive',
        'spec.ports[1].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"',
        'spec.ports[1].targetPort: Invalid value: 70000: must be between 1 and 65535, inclusive',
        'spec.ports[2].name: Duplicate value: "b"',
        'spec.ports[2].targetPort: Invalid value: "Not A Port": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
      ],
    ],
    [
      'several ports without names',
      { ports: [{ port: 80 }, { port: 81 }] },
      ['spec.ports[0].name: Required value', 'spec.ports[1].name: Required value'],
    ],
    [
      'the same port twice',
      {
        ports: [
          { port: 80, name: 'a' },
          { port: 80, name: 'b' },
        ],
      },
      ['spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,"TargetPort":0,"NodePort":0}'],
    ],
    [
      'a node port inside the cluster',
      { ports: [{ port: 80, nodePort: 30080 }] },
      ["spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"],
    ],
    [
      'the same node port twice',
      {
        type: 'NodePort',
        ports: [
          { port: 1, name: 'a', nodePort: 30080 },
          { port: 2, name: 'b', nodePort: 30080 },
        ],
      },
      ['spec.ports[1].nodePort: Duplicate value: 30080'],
    ],
    [
      'a selector that is none',
      { selector: { 'no spaces': 'ok', fine: 'not fine!' } },
      [
        "spec.selector: Invalid value: \"no spaces\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
        "spec.selector: Invalid value: \"not fine!\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
      ],
    ],
    [
      'an unknown affinity',
      { sessionAffinity: 'Always' },
      ['spec.sessionAffinity: Unsupported value: "Always": supported values: "ClientIP", "None"'],
    ],
    [
      'affinity for too long',
      { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 86401 } } },
      ['spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 86401: must be greater than 0 and less than 86400'],
    ],
    [
      'external addresses that mean this host',
      { externalIPs: ['127.0.0.1', 'nonsense', '0.0.0.0'] },
      [
        'spec.externalIPs[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
        'spec.externalIPs[1]: Invalid value: "nonsense": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
        'spec.externalIPs[2]: Invalid value: "0.0.0.0": may not be unspecified (0.0.0.0)',
      ],
    ],
    [
      'a name without a name',
      {
        type: 'ExternalName',
        ports: [],
        clusterIP: undefined,
        clusterIPs: undefined,
        ipFamilies: undefined,
        ipFamilyPolicy: undefined,
      } as never,
      ['spec.externalName: Required value'],
    ],
    [
      'a traffic policy of outside for inside',
      { externalTrafficPolicy: 'Local' },
      ['spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services'],
    ],
    [
      'an unknown internal traffic policy',
      { internalTrafficPolicy: 'Near' },
      ['spec.internalTrafficPolicy: Unsupported value: "Near": supported values: "Cluster", "Local"'],
    ],
    [
      'allocation of node ports inside the cluster',
      { allocateLoadBalancerNodePorts: true },
      ["spec.allocateLoadBalancerNodePorts: Forbidden: may only be used when `type` is 'LoadBalancer'"],
    ],
    [
      'a class of load balancers inside the cluster',
      { loadBalancerClass: 'example.com/lb' },
      ["spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'"],
    ],
    [
      'source ranges that are none',
      { type: 'LoadBalancer', loadBalancerSourceRanges: ['10.0.0.0'] },
      ['spec.LoadBalancerSourceRanges[0]: Invalid value: "10.0.0.0": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'],
    ],
    [
      'a health check port without its policy',
      { type: 'LoadBalancer', healthCheckNodePort: 30001 },
      [
        "spec.healthCheckNodePort: Invalid value: 30001: may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
      ],
    ],
    [
      'an unknown distribution of traffic',
      { trafficDistribution: 'PreferFar' },
      ['spec.trafficDistribution: Unsupported value: "PreferFar": supported values: "PreferClose", "PreferSameZone", "PreferSameNode"'],
    ],
    [
      'three addresses',
      { clusterIPs: ['10.96.0.7', 'fd00::1', '10.96.0.8'], ipFamilyPolicy: 'PreferDualStack', ipFamilies: ['IPv4', 'IPv6'] },
      ['spec.clusterIPs: Invalid value: ["10.96.0.7","fd00::1","10.96.0.8"]: may only hold up to 2 values'],
    ],
    [
      'two addresses of one family',
      { clusterIPs: ['10.96.0.7', '10.96.0.8'], ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv4', 'IPv6'] },
      [
        'spec.clusterIPs: Invalid value: ["10.96.0.7","10.96.0.8"]: may specify no more than one IP for each IP family',
        'spec.clusterIPs[1]: Invalid value: "10.96.0.8": expected an IPv6 value as indicated by `ipFamilies[1]`',
      ],
    ],
    [
      'an address of the wrong family',
      { ipFamilies: ['IPv6'] },
      ['spec.clusterIPs[0]: Invalid value: "10.96.0.7": expected an IPv6 value as indicated by `ipFamilies[0]`'],
    ],
    [
      'addresses that differ',
      { clusterIP: '10.96.0.8' },
      ['spec.clusterIPs: Invalid value: ["10.96.0.7"]: first value must match `clusterIP`'],
    ],
    ['two families of which one is used is fine', { ipFamilies: ['IPv4', 'IPv6'] }, []],
  ])('%s', (_, spec, errors) => {
    expect(errorsOf(spec)).toEqual(errors);
  });
});

describe('an update', () => {
  const old = service(IPS);
  test.each<[string, Partial<ServiceSpec>, readonly string[]]>([
    ['may change ports', { ports: [{ port: 8080 }] }, []],
    [
      'may not change the address',
      { clusterIP: '10.96.0.8', clusterIPs: ['10.96.0.8'] },
      ['spec.clusterIPs[0]: Invalid value: ["10.96.0.8"]: may not change once set'],
    ],
    ['may add a family', { clusterIPs: ['10.96.0.7', 'fd00::7'], ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'RequireDualStack' }, []],
    [
      'may not change the first family',
      { ipFamilies: ['IPv6'], clusterIP: 'fd00::7', clusterIPs: ['fd00::7'] },
      [
        'spec.clusterIPs[0]: Invalid value: ["fd00::7"]: may not change once set',
        'spec.ipFamilies[0]: Invalid value: ["IPv6"]: may not change once set',
      ],
    ],
  ])('%s', (_, spec, errors) => {
    expect(validateUpdate(service({ ...IPS, ...spec }), old).map(String)).toEqual(errors);
  });

  test('of the class of load balancers is refused', () => {
    const before = service({ ...IPS, type: 'LoadBalancer', loadBalancerClass: 'example.com/a' });
    const after = service({ ...IPS, type: 'LoadBalancer', loadBalancerClass: 'example.com/b' });
    expect(validateUpdate(after, before).map(String)).toEqual([
      'spec.loadBalancerClass: Invalid value: "example.com/b": may not change once set',
    ]);
  });

  test('of the status takes sane addresses of load balancers only', () => {
    const balancer = service({ ...IPS, type: 'LoadBalancer' });
    const withIngress = (...ingress: readonly object[]): Service => ({ ...balancer, status: { loadBalancer: { ingress } } });
    expect(validateStatusUpdate(withIngress({ ip: '192.0.2.1', ipMode: 'VIP' }), balancer).map(String)).toEqual([]);
    expect(
      validateStatusUpdate(withIngress({ ip: 'x', ipMode: 'VIP' }, { hostname: '192.0.2.1' }, { ip: '192.0.2.1' }), balancer).map(String),
    ).toEqual([
      'status.loadBalancer.ingress[0].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
      'status.loadBalancer.ingress[1].hostname: Invalid value: "192.0.2.1": must be a DNS name, not an IP address',
      'status.loadBalancer.ingress[2].ipMode: Required value: must be specified when `ip` is set',
    ]);
    expect(
      validateStatusUpdate({ ...old, status: { loadBalancer: { ingress: [{ ip: '192.0.2.1', ipMode: 'VIP' }] } } }, old).map(String),
    ).toEqual(["status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is 'LoadBalancer'"]);
  });
});

test('a service with unusual address spelling draws warnings', () => {
  const odd = service({ ...IPS, externalIPs: ['2001:DB8::1'], loadBalancerIP: '010.0.0.1', loadBalancerSourceRanges: ['10.0.0.1/8'] });
  expect(warnings(odd)).toEqual([
    'spec.externalIPs[0]: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")',
    'spec.externalIPs is deprecated and may no longer be implemented in some clusters',
    'spec.loadBalancerIP: non-standard IP address "010.0.0.1" is invalid: use "10.0.0.1"',
    'spec.loadBalancerSourceRanges[0]: CIDR value "10.0.0.1/8" is ambiguous in this context (should be "10.0.0.0/8" or "10.0.0.1/32"?)',
  ]);
});

test.each<[string, Service, unknown]>([
  [
    'an internal service',
    service({ ...IPS, selector: { b: '2', a: '1' } }),
    ['a', 'ClusterIP', '10.96.0.7', '<none>', '80/TCP', '<unknown>', 'a=1,b=2'],
  ],
  [
    'a name',
    service({ type: 'ExternalName', externalName: 'example.com', ports: [] }),
    ['a', 'ExternalName', '<none>', 'example.com', '<none>', '<unknown>', '<none>'],
  ],
  [
    'a load balancer that waits',
    service({
      ...IPS,
      type: 'LoadBalancer',
      ports: [
        { port: 443, nodePort: 30443 },
        { port: 53, protocol: 'UDP' },
      ],
    }),
    ['a', 'LoadBalancer', '10.96.0.7', '<pending>', '443:30443/TCP,53/UDP', '<unknown>', '<none>'],
  ],
  [
    'a load balancer',
    {
      ...service({ ...IPS, type: 'LoadBalancer', externalIPs: ['192.0.2.9'] }),
      status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }, { hostname: 'lb.example.com' }] } },
    },
    ['a', 'LoadBalancer', '10.96.0.7', '192.0.2.1,lb.example.com,192.0.2.9', '80/TCP', '<unknown>', '<none>'],
  ],
])('prints %s', (_, object, cells) => {
  expect(table.cells(object, 0)).toEqual(cells);
});
