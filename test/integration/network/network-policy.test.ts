import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { core, networking } from '#api';
import { networkContains, parseCidr, parseIp, seededRandom } from '#base';
import { selectorFromObject } from '#machinery';
import { startCluster, type TestCluster } from '#testing';
import { Lab, type Namespace, namespacesProblem, sctpProblem } from './machines.ts';
import { NodeMachine } from './node-machine.ts';

const problem = namespacesProblem();
if (problem) console.warn(`network policies are not tested on packets: ${problem}`);

const noSctp = sctpProblem();

interface TestPod {
  readonly namespace: string;
  readonly name: string;
  readonly labels: Record<string, string>;
  readonly pod: Namespace;
  readonly address: string;
  readonly ipv6: string;
}

const NAMESPACES: Record<string, Record<string, string>> = { x: { team: 'red' }, y: { team: 'blue' } };
/** The first has a name. */
const PORTS = [8080, 8081];
type Policy = networking.NetworkPolicy;
type Rule = { from?: Peer[]; to?: Peer[]; ports?: { protocol?: string; port?: number | string; endPort?: number }[] };
type Peer = { podSelector?: object; namespaceSelector?: object; ipBlock?: { cidr: string; except?: string[] } };

/** A direct implementation of the API's definition of policies. */
function isAllowed(policies: readonly Policy[], from: TestPod, to: TestPod, port: number): boolean {
  if (from === to) return true;
  const selecting = (pod: TestPod, type: string) =>
    policies.filter(
      ({ metadata, spec }) =>
        metadata?.namespace === pod.namespace &&
        spec!.policyTypes!.includes(type) &&
        selectorFromObject(spec!.podSelector).matches(pod.labels),
    );
  const isPeer = (peers: Peer[] | undefined, pod: TestPod, namespace: string) =>
    !peers?.length ||
    peers.some(({ podSelector, namespaceSelector, ipBlock }) => {
      if (ipBlock) {
        const ip = parseIp(pod.address)!;
        const isIn = (cidr: string) => networkContains(parseCidr(cidr)!, ip);
        return isIn(ipBlock.cidr) && !(ipBlock.except ?? []).some(isIn);
      }
      const isInNamespace = namespaceSelector
        ? selectorFromObject(namespaceSelector).matches(NAMESPACES[pod.namespace]!)
        : pod.namespace === namespace;
      return isInNamespace && (!podSelector || selectorFromObject(podSelector).matches(pod.labels));
    });
  const isPort = (ports: Rule['ports']) =>
    !ports?.length ||
    ports.some(({ protocol = 'TCP', port: allowed, endPort }) => {
      if (protocol !== 'TCP') return false;
      if (allowed === undefined) return true;
      if (typeof allowed === 'string') return allowed === 'http' && port === PORTS[0];
      return port >= allowed && port <= (endPort ?? allowed);
    });
  const passes = (about: readonly Policy[], rulesOf: (policy: Policy) => Rule[], other: TestPod) =>
    about.length === 0 ||
    about.some((policy) =>
      rulesOf(policy).some((rule) => isPeer(rule.from ?? rule.to, other, policy.metadata!.namespace!) && isPort(rule.ports)),
    );
  return (
    passes(selecting(from, 'Egress'), ({ spec }) => (spec!.egress ?? []) as Rule[], to) &&
    passes(selecting(to, 'Ingress'), ({ spec }) => (spec!.ingress ?? []) as Rule[], from)
  );
}

describe.skipIf(problem !== undefined)('network policies, on packets', () => {
  let cluster: TestCluster;
  let lab: Lab;
  let node: NodeMachine;
  const pods: TestPod[] = [];

  beforeAll(async () => {
    cluster = await startCluster({ nodes: 0, controllers: [] });
    lab = await Lab.create();
    node = new NodeMachine('n1', await lab.namespace('n1'), { lab, client: cluster.client }, { removeOnStop: true });
    await node.register(['10.71.0.0/24', 'fd71::/64'], ['192.168.71.1']);
    await node.start();
    for (const [namespace, labels] of Object.entries(NAMESPACES)) {
      await cluster.client.of(core.Namespace).create({ metadata: { name: namespace, labels } });
      await cluster.client.of(core.ServiceAccount).create({ metadata: { name: 'default', namespace } });
      for (const name of ['a', 'b', 'c']) {
        const own = { app: name, tier: name === 'c' ? 'back' : 'front' };
        const ports = [
          { name: 'http', containerPort: PORTS[0]! },
          { name: 'datagrams', containerPort: PORTS[0]!, protocol: 'UDP' },
        ];
        await cluster.client.of(core.Pod).create({
          metadata: { name, namespace, labels: own },
          spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'i', ports }] },
        } as core.Pod);
        const { pod, addresses } = await node.pod(`${namespace}${name}`, { args: { K8S_POD_NAMESPACE: namespace, K8S_POD_NAME: name } });
        for (const port of PORTS) await pod.listen(port);
        pods.push({ namespace, name, labels: own, pod, address: addresses[0]!, ipv6: addresses[1]! });
      }
    }
  });
  afterAll(async () => {
    await node?.stop();
    await lab?.[Symbol.asyncDispose]();
    await cluster?.[Symbol.asyncDispose]();
  });

  /** The allowed connections between all pods on all ports. */
  async function passing(): Promise<string[]> {
    const tries = pods.flatMap((from) => pods.flatMap((to) => PORTS.map((port) => ({ from, to, port }))));
    const outcomes = await Promise.all(
      tries.map(async ({ from, to, port }) => ({
        name: `${from.namespace}/${from.name} → ${to.namespace}/${to.name}:${port}`,
        reached: await from.pod.reach({ host: to.address, port, timeoutMs: 1200 }),
        expected: to.pod.name,
      })),
    );
    return outcomes.filter(({ reached, expected }) => reached === expected).map(({ name }) => name);
  }
  const expected = (policies: readonly Policy[]) =>
    pods.flatMap((from) =>
      pods.flatMap((to) =>
        PORTS.filter((port) => isAllowed(policies, from, to, port)).map(
          (port) => `${from.namespace}/${from.name} → ${to.namespace}/${to.name}:${port}`,
        ),
      ),
    );
  const policy = (name: string, namespace: string, spec: object) => ({ metadata: { name, namespace }, spec }) as Policy;
  async function withPolicies(policies: readonly Policy[], check: () => Promise<void>): Promise<void> {
    const client = cluster.client.of(networking.NetworkPolicy);
    for (const policy of policies) await client.create(policy);
    try {
      await check();
    } finally {
      for (const { metadata } of policies) await client.delete({ name: metadata!.name!, namespace: metadata!.namespace! });
    }
  }

  const cases: [string, Policy[]][] = [
    ['no policy', []],
    ['default deny of ingress', [policy('p', 'x', { podSelector: {}, policyTypes: ['Ingress'] })]],
    ['default deny of both', [policy('p', 'x', { podSelector: {}, policyTypes: ['Ingress', 'Egress'] })]],
    [
      'all ingress allowed beside a denial',
      [
        policy('p', 'x', { podSelector: {}, policyTypes: ['Ingress'] }),
        policy('q', 'x', { podSelector: {}, policyTypes: ['Ingress'], ingress: [{}] }),
      ],
    ],
    [
      'one app from another by name of the port',
      [
        policy('p', 'x', {
          podSelector: { matchLabels: { app: 'a' } },
          policyTypes: ['Ingress'],
          ingress: [{ from: [{ podSelector: { matchLabels: { app: 'b' } } }], ports: [{ port: 'http' }] }],
        }),
      ],
    ],
    [
      'another namespace and some of its pods',
      [
        policy('p', 'x', {
          podSelector: {},
          policyTypes: ['Ingress'],
          ingress: [
            {
              from: [
                {
                  namespaceSelector: { matchLabels: { team: 'blue' } },
                  podSelector: { matchExpressions: [{ key: 'tier', operator: 'In', values: ['front'] }] },
                },
              ],
            },
          ],
        }),
      ],
    ],
    [
      'a range of ports',
      [policy('p', 'y', { podSelector: {}, policyTypes: ['Ingress'], ingress: [{ ports: [{ port: 8081, endPort: 9000 }] }] })],
    ],
    [
      'another protocol only',
      [policy('p', 'y', { podSelector: {}, policyTypes: ['Ingress'], ingress: [{ ports: [{ protocol: 'UDP' }] }] })],
    ],
    [
      'a range of addresses with an exception',
      [
        policy('p', 'y', {
          podSelector: {},
          policyTypes: ['Ingress'],
          ingress: [{ from: [{ ipBlock: { cidr: '10.71.0.0/24', except: ['10.71.0.2/31'] } }] }],
        }),
      ],
    ],
    [
      'egress by selector and named port',
      [
        policy('p', 'x', {
          podSelector: { matchLabels: { tier: 'front' } },
          policyTypes: ['Egress'],
          egress: [{ to: [{ namespaceSelector: {} }], ports: [{ port: 'http' }] }],
        }),
      ],
    ],
  ];
  it.each(cases)('let pass what the API allows with %s', async (_name, policies) => {
    await withPolicies(policies, () => expect.poll(passing, { timeout: 20_000 }).toEqual(expected(policies)));
  });

  it('let pass what the API allows with policies made up at random', async () => {
    const random = seededRandom(11);
    const selector = () =>
      random.pick<object>([{}, { matchLabels: { app: random.pick(['a', 'b', 'c']) } }, { matchLabels: { tier: 'front' } }]);
    const peer = (): Peer =>
      random.pick<() => Peer>([
        () => ({ podSelector: selector() }),
        () => ({ namespaceSelector: { matchLabels: { team: random.pick(['red', 'blue']) } } }),
        () => ({ namespaceSelector: {}, podSelector: selector() }),
        () => ({ ipBlock: { cidr: '10.71.0.0/29', except: ['10.71.0.4/31'] } }),
      ])();
    const ports = () => random.pick([[], [{ port: 'http' }], [{ port: 8081 }], [{ port: 8000, endPort: 8080 }]]);
    const rule = (side: 'from' | 'to') => ({ [side]: random.pick([[], [peer()], [peer(), peer()]]), ports: ports() });
    for (let round = 0; round < 6; round++) {
      const policies = Array.from({ length: 1 + random.int(4) }, (_, i) =>
        policy(`p${i}`, random.pick(['x', 'y']), {
          podSelector: selector(),
          policyTypes: random.pick([['Ingress'], ['Egress'], ['Ingress', 'Egress']]),
          ingress: random.pick([[], [rule('from')], [rule('from'), rule('from')]]),
          egress: random.pick([[], [rule('to')]]),
        }),
      ).map((pod) => ({
        ...pod,
        spec: {
          ...pod.spec,
          ...(pod.spec!.policyTypes!.includes('Ingress') ? {} : { ingress: [] }),
          ...(pod.spec!.policyTypes!.includes('Egress') ? {} : { egress: [] }),
        },
      })) as Policy[];
      await withPolicies(policies, () => expect.poll(passing, { timeout: 20_000 }).toEqual(expected(policies)));
    }
  });

  describe('of all protocols and both families', () => {
    const selectA = { podSelector: { matchLabels: { app: 'a' } } };
    let from: TestPod;
    let to: TestPod;
    beforeAll(async () => {
      [from, to] = pods as [TestPod, TestPod];
      for (const host of ['0.0.0.0', '::']) await to.pod.listen(8080, { protocol: 'udp', host });
      if (noSctp === undefined) for (const family of [4, 6] as const) await to.pod.listenSctp(family, 8080);
    });

    /** The allowed connections from the first pod to the second at port 8080. */
    async function passingProtocols(): Promise<string[]> {
      const tries = [to.address, to.ipv6].flatMap((host) => {
        const target = { host, port: 8080, timeoutMs: 700 };
        const family = host.includes(':') ? 6 : 4;
        return [
          ...(['tcp', 'udp'] as const).map(async (protocol) => ({
            protocol,
            family,
            reached: await from.pod.reach({ ...target, protocol }),
          })),
          ...(noSctp === undefined ? [from.pod.reachSctp(target).then((reached) => ({ protocol: 'sctp', family, reached }))] : []),
        ];
      });
      const passing = (await Promise.all(tries)).filter(({ reached }) => reached === to.pod.name);
      return passing.map(({ protocol, family }) => `${protocol}${family}`).sort();
    }
    const both = (...protocols: string[]) =>
      protocols
        .filter((protocol) => protocol !== 'sctp' || noSctp === undefined)
        .flatMap((protocol) => [`${protocol}4`, `${protocol}6`])
        .sort();

    it.each([
      ['no policy', undefined, () => both('tcp', 'udp', 'sctp')],
      ['a port of UDP', { ports: [{ protocol: 'UDP', port: 8080 }] }, () => both('udp')],
      ['every port of SCTP', { ports: [{ protocol: 'SCTP' }] }, () => both('sctp')],
      ['a range of ports of SCTP', { ports: [{ protocol: 'SCTP', port: 8000, endPort: 8080 }] }, () => both('sctp')],
      ['a range of ports that ends before', { ports: [{ protocol: 'SCTP', port: 8000, endPort: 8079 }] }, () => []],
      ['a named port of UDP, from one app', { from: [selectA], ports: [{ protocol: 'UDP', port: 'datagrams' }] }, () => both('udp')],
      ['a name that is another protocol', { ports: [{ protocol: 'SCTP', port: 'datagrams' }] }, () => []],
      [
        'a range of IPv6',
        { from: [{ ipBlock: { cidr: 'fd71::/64' } }] },
        () => both('tcp', 'udp', 'sctp').filter((name) => name.endsWith('6')),
      ],
      ['a range of IPv6 but this pod', { from: [{ ipBlock: { cidr: 'fd71::/64', except: ['fd71::2/127'] } }] }, () => []],
    ] as [string, object | undefined, () => string[]][])('let pass %s', async (_name, rule, expectedProtocols) => {
      const spec = { podSelector: { matchLabels: { app: 'b' } }, policyTypes: ['Ingress'], ingress: [rule] };
      const policies = rule === undefined ? [] : [policy('p', 'x', spec)];
      await withPolicies(policies, () => expect.poll(passingProtocols).toEqual(expectedProtocols()));
    });

    it('let datagrams out to a port alone', async () => {
      const egress = [{ to: [{ ipBlock: { cidr: `${to.address}/32` } }], ports: [{ protocol: 'UDP', port: 8080 }] }];
      const spec = { podSelector: { matchLabels: { app: 'a' } }, policyTypes: ['Egress'], egress };
      await withPolicies([policy('p', 'x', spec)], () => expect.poll(passingProtocols).toEqual(['udp4']));
    });
  });

  it('never keep the node from its pods, and leave open connections alone', async () => {
    const [a, b] = pods as [TestPod, TestPod];
    // The previous test's policy may still be in effect.
    await expect.poll(() => a.pod.reach({ host: b.address, port: 8080, timeoutMs: 300 })).toBe(b.pod.name);
    await a.pod.open('k', { host: b.address, port: 8080 });
    const deny = [policy('p', 'x', { podSelector: {}, policyTypes: ['Ingress', 'Egress'] })];
    await withPolicies(deny, async () => {
      await expect.poll(() => a.pod.reach({ host: b.address, port: 8080, timeoutMs: 300 })).toBe('timeout');
      expect(await node.machine.reach({ host: b.address, port: 8080 })).toBe(b.pod.name);
      expect(await a.pod.echo('k', 'still')).toBe('still');
    });
  });

  it('hold for a pod before its status has an address, and follow its labels', async () => {
    const deny = [policy('p', 'y', { podSelector: { matchLabels: { locked: 'yes' } }, policyTypes: ['Ingress'] })];
    await withPolicies(deny, async () => {
      const [a] = pods as [TestPod];
      const target = pods[3]!;
      await expect.poll(() => a.pod.reach({ host: target.address, port: 8080, timeoutMs: 300 })).toBe(target.pod.name);
      const client = cluster.client.of(core.Pod);
      await client.patch({ namespace: 'y', name: 'a' }, { metadata: { labels: { locked: 'yes' } } });
      await expect.poll(() => a.pod.reach({ host: target.address, port: 8080, timeoutMs: 300 })).toBe('timeout');
      await client.patch({ namespace: 'y', name: 'a' }, { metadata: { labels: { locked: null } } });
      await expect.poll(() => a.pod.reach({ host: target.address, port: 8080, timeoutMs: 300 })).toBe(target.pod.name);
    });
  });
});
