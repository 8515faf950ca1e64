import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { core } from '#api';
import { currentSetAnnotations } from '../../src/controllers/deployment/revision.ts';
import { reconcileEndpoints } from '../../src/controllers/endpoint/reconcile.ts';
import { mirrorEndpoints } from '../../src/controllers/endpointslicemirroring/reconcile.ts';
import { ADMIN_TOKEN, type HostileCluster, startHostileCluster } from './hostile-cluster.ts';
import { TURN_BUDGET_MS } from './turn-budget.ts';
import { timedTurns } from './watch-turns.ts';

// The time for two long lists of one object, or for a list and its errors, is not their product.

let hostile: HostileCluster;
beforeAll(async () => {
  hostile = await startHostileCluster({ controllerManager: { controllers: [] } });
  const account = { kind: 'ServiceAccount', apiVersion: 'v1', metadata: { name: 'default' } };
  await hostile.send(`${CORE}/serviceaccounts`, { method: 'POST', token: ADMIN_TOKEN, body: JSON.stringify(account) });
});
afterAll(() => hostile[Symbol.asyncDispose]());

const CORE = '/api/v1/namespaces/default';
const many = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
const keyed = (count: number, make: (i: number) => unknown) => Object.fromEntries(many(count, (i) => [`k${i}`, make(i)]));
const container = { name: 'c', image: 'busybox' };
const pod = (spec: object) => ({ kind: 'Pod', apiVersion: 'v1', metadata: { name: 'p' }, spec });
const configMap = (metadata: object, fields: object = {}) => ({
  ...{ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'm', ...metadata } },
  ...fields,
});
const create = (path: string, object: object, query = '?dryRun=All') =>
  hostile.send(`${path}${query}`, { method: 'POST', token: ADMIN_TOKEN, body: JSON.stringify(object) });
const apply = (path: string, object: object, manager = 'hostile') =>
  hostile.send(`${path}?fieldManager=${manager}&force=true`, {
    ...{ method: 'PATCH', token: ADMIN_TOKEN, body: JSON.stringify(object) },
    headers: { 'content-type': 'application/apply-patch+yaml' },
  });

async function longestTurn(ask: () => ReturnType<typeof create>): Promise<{ code: number; longestMs: number }> {
  const { answer, longestMs } = await timedTurns(TURN_BUDGET_MS, ask);
  return { code: answer.code, longestMs };
}

const IN_BUDGET = { longestMs: expect.toSatisfy((ms: number) => ms < TURN_BUDGET_MS) as number };

describe('an object with two long lists', () => {
  const affinity = (fields: object) => ({
    podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector: {}, topologyKey: 'zone', ...fields }] },
  });
  const cases: readonly (readonly [string, object])[] = [
    [
      'volume mounts and devices',
      {
        containers: [
          {
            ...container,
            volumeMounts: many(20_000, (i) => ({ name: `m${i}`, mountPath: `/m${i}` })),
            volumeDevices: many(20_000, (i) => ({ name: `d${i}`, devicePath: `/d${i}` })),
          },
        ],
      },
    ],
    [
      'label keys that match and that do not',
      {
        containers: [container],
        affinity: affinity({ matchLabelKeys: many(40_000, (i) => `a${i}`), mismatchLabelKeys: many(40_000, (i) => `b${i}`) }),
      },
    ],
    [
      'label keys and requirements of a selector',
      {
        containers: [container],
        affinity: affinity({
          matchLabelKeys: many(30_000, (i) => `a${i}`),
          labelSelector: { matchExpressions: many(30_000, (i) => ({ key: `b${i}`, operator: 'Exists' })) },
        }),
      },
    ],
    [
      'variables from files and volumes',
      {
        containers: [
          {
            ...container,
            env: many(12_000, (i) => ({ name: `V${i}`, valueFrom: { fileKeyRef: { volumeName: `x${i}`, path: 'a', key: 'a' } } })),
          },
        ],
        volumes: many(20_000, (i) => ({ name: `v${i}`, emptyDir: {} })),
      },
    ],
    [
      'tolerations and extended resources',
      {
        containers: [{ ...container, resources: { limits: keyedResources(20_000), requests: keyedResources(20_000) } }],
        tolerations: many(20_000, (i) => ({ key: `k${i}`, operator: 'Exists' })),
      },
    ],
  ];
  test.each(cases)('%s are compared in short turns', async (_, spec) => {
    const { code, longestMs } = await longestTurn(() => create(`${CORE}/pods`, pod(spec)));
    expect(code).toBeLessThan(500);
    expect({ longestMs }).toEqual(IN_BUDGET);
  });
});

function keyedResources(count: number): object {
  return Object.fromEntries(many(count, (i) => [`a.b/${i}`, '1']));
}

test('scopes of a quota and limited resources are compared in short turns', async () => {
  const matchExpressions = many(10_000, () => ({ scopeName: 'BestEffort', operator: 'Exists' }));
  const hard = Object.fromEntries(many(30_000, (i) => [`count/x${i}.example.com`, '1']));
  const spec = { hard: { ...hard, cpu: '1', memory: '1' }, scopeSelector: { matchExpressions } };
  const quota = { kind: 'ResourceQuota', apiVersion: 'v1', metadata: { name: 'q' }, spec };
  const { code, longestMs } = await longestTurn(() => create(`${CORE}/resourcequotas`, quota));
  expect(code).toBe(422);
  expect({ longestMs }).toEqual(IN_BUDGET);
});

describe('empty objects that defaults would multiply', () => {
  const webhooks = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations';
  const cases: readonly (readonly [string, string, object])[] = [
    ['containers', `${CORE}/pods`, pod({ containers: many(900_000, () => ({})) })],
    [
      'ports',
      `${CORE}/services`,
      { kind: 'Service', apiVersion: 'v1', metadata: { name: 's' }, spec: { ports: many(900_000, () => ({})) } },
    ],
    [
      'webhooks',
      webhooks,
      {
        ...{ kind: 'MutatingWebhookConfiguration', apiVersion: 'admissionregistration.k8s.io/v1', metadata: { name: 'w' } },
        webhooks: many(900_000, () => ({})),
      },
    ],
  ];
  test.each(cases)('%s: a body with 900,000 of them is too large', async (_, path, object) => {
    const { code, longestMs } = await longestTurn(() => create(path, object));
    expect(code).toBe(413);
    expect({ longestMs }).toEqual(IN_BUDGET);
  });
});

describe('a body with more keys than an object that is stored', () => {
  const claim = (labels: object) => ({ kind: 'PersistentVolumeClaim', apiVersion: 'v1', metadata: { name: 'p', labels } });
  const limits = {
    kind: 'LimitRange',
    apiVersion: 'v1',
    metadata: { name: 'l' },
    spec: { limits: [{ type: 'Pod', max: keyed(180_000, () => 1) }] },
  };
  const cases: readonly (readonly [string, string, object])[] = [
    ['data', 'configmaps', configMap({}, { data: keyed(187_500, () => '') })],
    ['labels that are objects', 'persistentvolumeclaims', claim(keyed(180_000, () => ({})))],
    ['quantities', 'limitranges', limits],
    ['a node selector', 'pods', pod({ containers: [container], nodeSelector: keyed(150_000, () => 'a') })],
  ];
  test.each(cases)('in %s is too large', async (_, resource, object) => {
    const { code, longestMs } = await longestTurn(() => create(`${CORE}/${resource}`, object));
    expect(code).toBe(413);
    expect({ longestMs }).toEqual(IN_BUDGET);
  });
  test.each(cases)('in %s is too large to apply', async (_, resource, object) => {
    const { code, longestMs } = await longestTurn(() => apply(`${CORE}/${resource}/${(object as typeof limits).metadata.name}`, object));
    expect(code).toBeGreaterThanOrEqual(413);
    expect({ longestMs }).toEqual(IN_BUDGET);
  });

  test('in a YAML map is too large', async () => {
    const lines = many(240_000, (i) => `  ${i.toString(36).padStart(5, 'a')}: a`);
    const body = `kind: ConfigMap\napiVersion: v1\nmetadata: {name: m}\ndata:\n${lines.join('\n')}\n`;
    const send = { method: 'POST', token: ADMIN_TOKEN, headers: { 'content-type': 'application/yaml' }, body };
    const { code, longestMs } = await longestTurn(() => hostile.send(`${CORE}/configmaps?dryRun=All`, send));
    expect(code).toBe(413);
    expect({ longestMs }).toEqual(IN_BUDGET);
  });
});

test('more finalizers than an object that is stored are rejected in short turns, created and applied', async () => {
  const object = configMap({ finalizers: many(240_000, (i) => `a/${i}`) });
  for (const send of [() => create(`${CORE}/configmaps`, object), () => apply(`${CORE}/configmaps/m`, object)]) {
    const { code, longestMs } = await longestTurn(send);
    expect(code).toBe(500);
    expect({ longestMs }).toEqual(IN_BUDGET);
  }
});

describe('an applied configuration', () => {
  const data = `${CORE}/configmaps/m`;
  const wrong: readonly (readonly [string, string, object])[] = [
    ['values of a wrong type', data, configMap({}, { data: keyed(60_000, () => 1) })],
    ['items of one key', `${CORE}/pods/p`, pod({ containers: [{ ...container, env: many(100_000, () => ({})) }] })],
    ['items that are no objects', `${CORE}/pods/p`, pod({ containers: [{ ...container, command: many(60_000, () => ({})) }] })],
  ];
  test.each(wrong)('with %s in great number is refused in short turns', async (_, path, object) => {
    const { code, longestMs } = await longestTurn(() => apply(path, object));
    expect(code).toBe(500);
    expect({ longestMs }).toEqual(IN_BUDGET);
  });

  test('with a long list is merged into the list of the object in short turns', async () => {
    const finalizers = many(30_000, (i) => `a/${i}`);
    await create(`${CORE}/configmaps`, configMap({ name: 'long', finalizers }), '');
    const { code, longestMs } = await longestTurn(() => apply(`${CORE}/configmaps/long`, configMap({ name: 'long', finalizers })));
    expect(code).toBe(200);
    expect({ longestMs }).toEqual(IN_BUDGET);
  });

  test('of one among thousands of appliers is merged in short turns', async () => {
    const labels = keyed(4000, () => 'v');
    const entry = (i: number) => ({
      ...{ manager: `m${i}`, operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1', time: '2026-01-01T00:00:00Z' },
      fieldsV1: { 'f:metadata': { 'f:labels': { [`f:k${i}`]: {} } } },
    });
    await create(`${CORE}/configmaps`, configMap({ name: 'owned', labels, managedFields: many(4000, entry) }), '');
    await apply(`${CORE}/configmaps/owned`, configMap({ name: 'owned' }, { data: { a: 'b', c: 'd' } }));
    let round = 0;
    const { code, longestMs } = await longestTurn(() =>
      apply(`${CORE}/configmaps/owned`, configMap({ name: 'owned' }, { data: { a: String(round++) } })),
    );
    expect(code).toBe(200);
    expect({ longestMs }).toEqual(IN_BUDGET);
  });
});

describe('a controller', () => {
  function processorMs(run: () => void): number {
    const before = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  }

  test('cuts a long revision history in linear time', () => {
    const existing = { 'deployment.kubernetes.io/revision': '7', 'deployment.kubernetes.io/revision-history': `${'1,'.repeat(60_000)}1` };
    const deployment = { kind: 'Deployment', apiVersion: 'apps/v1', metadata: { name: 'd' } } as never;
    let history = '';
    const spentMs = processorMs(() => {
      history = currentSetAnnotations(deployment, existing, 8n)['deployment.kubernetes.io/revision-history']!;
    });
    expect(history).toMatch(/^1(,1)*,7$/);
    expect(history.length).toBe(1999);
    expect(spentMs).toBeLessThan(TURN_BUDGET_MS);
  });

  const ports = many(20_000, (i) => ({ name: `p${i}`, port: i + 1, protocol: 'TCP' }));
  const metadata = { name: 'e', namespace: 'default', uid: 'u' };

  test('mirrors a bounded number of pairs of addresses and ports', () => {
    const addresses = many(20_000, (i) => ({ ip: `10.1.${i >> 8}.${i & 255}` }));
    const endpoints = { kind: 'Endpoints', apiVersion: 'v1', metadata, subsets: [{ addresses, ports }] } as unknown as core.Endpoints;
    expect(mirrorEndpoints(endpoints, [], 1000).create.map((slice) => [slice.endpoints?.length, slice.ports?.length])).toEqual([
      [12, 20_000],
    ]);
  });

  test('lists a bounded number of pairs of pods and ports', () => {
    const service = { kind: 'Service', apiVersion: 'v1', metadata, spec: { ports, ipFamilies: ['IPv4'] } } as unknown as core.Service;
    const pods = many(1000, (i) => {
      const ip = `10.1.${i >> 8}.${i & 255}`;
      const status = { podIP: ip, podIPs: [{ ip }], conditions: [{ type: 'Ready', status: 'True' }] };
      return { kind: 'Pod', apiVersion: 'v1', metadata: { name: `p${i}`, namespace: 'default', uid: `u${i}` }, spec: {}, status };
    });
    const { subsets = [] } = reconcileEndpoints(service, pods as unknown as core.Pod[], undefined);
    expect(subsets.map(({ addresses, ports: listed }) => [addresses?.length, listed?.length])).toEqual([[12, 20_000]]);
  });
});
