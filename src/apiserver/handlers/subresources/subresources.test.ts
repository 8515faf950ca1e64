import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { core, type policy } from '#api';
import { MetricsRegistry, realClock, seededRandom, silentLogger } from '#base';
import { Client } from '#client';
import { StatusError } from '#machinery';
import { openMemoryStore } from '#store';
import { inProcessTransport } from '../../in-process/in-process-transport.ts';
import { HttpsKubeletConnector } from '../../kubelet-client/https-kubelet-connector.ts';
import { type KubeletRequest, type KubeletResponse, LocalKubelets } from '../../kubelet-client/kubelet-connector.ts';
import { type ApiServer, startApiServer } from '../../server.ts';

const random = seededRandom('subresources');
const store = openMemoryStore({ clock: realClock });
const kubelets = new LocalKubelets(new HttpsKubeletConnector());
const requests: KubeletRequest[] = [];
let server: ApiServer;
let client: Client;

function start(): ApiServer {
  const deps = { store, clock: realClock, random, logger: silentLogger, metrics: new MetricsRegistry(), kubelets };
  return startApiServer({ version: { gitVersion: 'v1.36.0' }, anonymousAuth: false }, deps);
}

function connect(): Client {
  const admin = { name: 'admin', groups: ['system:masters', 'system:authenticated'] };
  return new Client(inProcessTransport(server.handle, admin, { clock: realClock }));
}

beforeAll(async () => {
  server = start();
  await server.ready;
  client = connect();
  await client.of(core.ServiceAccount).create({ metadata: { name: 'default', namespace: 'default' } });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await store.close();
});

const at = (name: string) => ({ namespace: 'default', name });

async function post(path: string, body: object): Promise<unknown> {
  return client.transport.request({ method: 'POST', path: `/api/v1/namespaces/default/${path}`, body });
}

async function refusal(request: Promise<unknown>): Promise<StatusError> {
  const error = await request.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(StatusError);
  return error as StatusError;
}

async function makePod(name: string, spec: object = {}): Promise<void> {
  const containers = [{ name: 'c', image: 'i' }];
  await client.of(core.Pod).create({ metadata: { ...at(name), labels: { app: name } }, spec: { containers, ...spec } } as never);
}

function binding(name: string, node: string, metadata: object = {}) {
  return { metadata: { name, ...metadata }, target: { kind: 'Node', name: node } };
}

async function setStatus(name: string, status: object): Promise<void> {
  const pod = await client.of(core.Pod).get(at(name));
  await client.of(core.Pod).updateStatus({ ...pod, status: { ...pod.status, ...status } } as never);
}

async function evict(name: string, overrides: object = {}): Promise<unknown> {
  return post(`pods/${name}/eviction`, { metadata: { name }, ...overrides });
}

describe('a binding', () => {
  it('puts a pod on a node, once', async () => {
    await makePod('bound');
    await post('pods/bound/binding', binding('bound', 'n', { annotations: { why: 'test' }, labels: { zone: 'z' } }));
    const pod = await client.of(core.Pod).get(at('bound'));
    expect(pod.spec?.nodeName).toBe('n');
    expect(pod.metadata.annotations).toEqual({ why: 'test' });
    expect(pod.metadata.labels).toEqual({ app: 'bound', zone: 'z' });
    expect(pod.status?.conditions).toMatchObject([{ type: 'PodScheduled', status: 'True' }]);
    const again = await refusal(post('bindings', binding('bound', 'm')));
    expect([again.code, again.message]).toEqual([
      409,
      'Operation cannot be fulfilled on pods/binding "bound": pod bound is already assigned to node "n"',
    ]);
  });

  it("with another uid than the pod's is a conflict", async () => {
    await makePod('successor');
    const refused = await refusal(post('pods/successor/binding', binding('successor', 'n', { uid: 'another' })));
    expect(refused.reason).toBe('Conflict');
    expect(refused.message).toContain('Precondition failed: UID in precondition: another, UID in object meta: ');
  });

  it('names the pod in its body when the path does not, and properly', async () => {
    const refused = async (name: string) => {
      const { code, message } = await refusal(post('bindings', binding(name, 'n')));
      return [code, message];
    };
    expect(await refused('')).toEqual([400, 'Name parameter required.']);
    expect(await refused('a/b')).toEqual([400, `Name parameter invalid: "a/b": may not contain '/'`]);
    expect(await refused('none')).toEqual([404, 'pods "none" not found']);
  });

  it('waits for scheduling gates', async () => {
    await makePod('gated', { schedulingGates: [{ name: 'example.com/gate' }] });
    expect((await refusal(post('pods/gated/binding', binding('gated', 'n')))).message).toMatch(/has non-empty .spec.schedulingGates$/);
  });

  it('changes nothing in a dry run', async () => {
    await makePod('dry');
    const query = new URLSearchParams({ dryRun: 'All' });
    await client.transport.request({
      method: 'POST',
      path: '/api/v1/namespaces/default/pods/dry/binding',
      query,
      body: binding('dry', 'n'),
    });
    expect((await client.of(core.Pod).get(at('dry'))).spec?.nodeName).toBeUndefined();
  });
});

describe('an eviction', () => {
  const budget = async (app: string, status: object) => {
    const path = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
    const body = { metadata: { name: app }, spec: { minAvailable: 1, selector: { matchLabels: { app } } } };
    const created = (await client.transport.request({ method: 'POST', path, body })) as policy.PodDisruptionBudget;
    const full = { currentHealthy: 1, desiredHealthy: 1, disruptionsAllowed: 0, expectedPods: 1, observedGeneration: 1, ...status };
    await client.transport.request({ method: 'PUT', path: `${path}/${app}/status`, body: { ...created, status: full } });
    return () => client.transport.request({ method: 'GET', path: `${path}/${app}` }) as Promise<policy.PodDisruptionBudget>;
  };
  const running = async (name: string, ready = 'True') => {
    await makePod(name, { nodeName: 'n' });
    await setStatus(name, { phase: 'Running', conditions: [{ type: 'Ready', status: ready }] });
  };

  it('deletes a pod without a budget, with the condition DisruptionTarget', async () => {
    await running('free');
    await evict('free');
    const pod = await client.of(core.Pod).get(at('free'));
    expect(pod.metadata.deletionTimestamp).toBeDefined();
    expect(pod.status?.conditions?.find(({ type }) => type === 'DisruptionTarget')?.reason).toBe('EvictionByEvictionAPI');
  });

  it('is 429 when the budget allows no disruption', async () => {
    await running('tight');
    await budget('tight', {});
    const refused = await refusal(evict('tight'));
    expect([refused.code, refused.causes]).toEqual([
      429,
      [{ reason: 'DisruptionBudget', message: 'The disruption budget tight needs 1 healthy pods and has 1 currently' }],
    ]);
  });

  it('decrements the budget', async () => {
    await running('spare');
    const read = await budget('spare', { currentHealthy: 2, disruptionsAllowed: 1 });
    await evict('spare');
    const { status } = await read();
    expect([status?.disruptionsAllowed, Object.keys(status?.disruptedPods ?? {})]).toEqual([0, ['spare']]);
    expect(status?.conditions).toMatchObject([{ type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods' }]);
  });

  it('has retryAfterSeconds while the budget is not yet observed', async () => {
    await running('fresh');
    await budget('fresh', { observedGeneration: 0 });
    expect((await refusal(evict('fresh'))).retryAfterSeconds).toBe(10);
  });

  it('lets an unhealthy pod go as long as enough others are healthy, and takes nothing for it', async () => {
    await running('sick', 'False');
    const read = await budget('sick', {});
    await evict('sick');
    expect((await read()).status?.disruptedPods).toBeUndefined();
  });

  it('asks no budget for a pod that has not started', async () => {
    await makePod('pending');
    await budget('pending', {});
    await evict('pending');
    expect((await refusal(client.of(core.Pod).get(at('pending')))).reason).toBe('NotFound');
  });

  it('does not delete in a dry run, whichever side asks for it', async () => {
    await running('rehearsed');
    await evict('rehearsed', { deleteOptions: { dryRun: ['All'] } });
    expect((await client.of(core.Pod).get(at('rehearsed'))).metadata.deletionTimestamp).toBeUndefined();
  });
});

describe('the log of a pod', () => {
  const log = (name: string, query: Record<string, string> = {}) =>
    client.transport.text({ method: 'GET', path: `/api/v1/namespaces/default/pods/${name}/log`, query: new URLSearchParams(query) });
  const answers = (code: number, text: string): KubeletResponse => ({
    code,
    headers: {},
    body: (async function* () {
      yield Buffer.from(text);
    })(),
  });
  let answer: KubeletResponse;

  beforeAll(async () => {
    kubelets.add('log-node', async (request) => {
      requests.push(request);
      return answer;
    });
    await client.of(core.Node).create({ metadata: { name: 'log-node' } });
    await makePod('talker', { nodeName: 'log-node', containers: ['a', 'b'].map((name) => ({ name, image: 'i' })) });
  });

  it('comes from the kubelet, which gets the options', async () => {
    answer = answers(200, 'hello\n');
    expect(await log('talker', { container: 'b', tailLines: '5', timestamps: 'true', follow: 'false' })).toBe('hello\n');
    const { path, query } = requests.at(-1)!;
    expect([path, query.toString()]).toEqual(['/containerLogs/default/talker/b', 'timestamps=true&tailLines=5']);
  });

  it.each<[string, Record<string, string>, number, string]>([
    ['no container where there are two', {}, 400, 'a container name must be specified for pod talker, choose one of: [a b]'],
    ['a container that is not there', { container: 'x' }, 400, 'container x is not valid for pod talker'],
    ['a number that is none', { container: 'a', tailLines: 'x' }, 400, 'strconv.ParseInt: parsing "x": invalid syntax'],
    [
      'less than no lines',
      { container: 'a', tailLines: '-1' },
      422,
      'PodLogOptions "talker" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0',
    ],
  ])('is refused for %s', async (_, query, code, message) => {
    const refused = await refusal(log('talker', query));
    expect([refused.code, refused.message]).toEqual([code, message]);
  });

  it.each([
    [400, 'container "a" in pod "talker" is waiting to start', 400, 'container "a" in pod "talker" is waiting to start'],
    [500, 'broken', 500, 'Internal error occurred: broken'],
    [404, 'gone', 404, 'the server could not find the requested resource ( pods/log talker)'],
  ])('passes on what the kubelet complains of with %i', async (code, text, seen, message) => {
    answer = answers(code, text);
    const refused = await refusal(log('talker', { container: 'a' }));
    expect([refused.code, refused.message]).toEqual([seen, message]);
  });

  it('is empty for a pod without a node', async () => {
    await makePod('quiet');
    expect(await log('quiet')).toBe('');
  });
});

describe('a way into a pod', () => {
  it.each([
    ['exec?container=nope', 'container nope is not valid for pod nowhere'],
    ['exec', 'pod nowhere does not have a host assigned'],
    ['attach', 'pod nowhere does not have a host assigned'],
    ['portforward', 'pod nowhere does not have a host assigned'],
    ['proxy', 'address not allowed'],
  ])('that runs nowhere is not there: %s', async (way, message) => {
    await makePod('nowhere').catch(() => {});
    const [path = '', query = ''] = way.split('?');
    const request = { method: 'POST' as const, path: `/api/v1/namespaces/default/pods/nowhere/${path}`, query: new URLSearchParams(query) };
    expect(await refusal(client.transport.request(request))).toMatchObject({ code: 400, message });
  });
});

describe('a scale', () => {
  it.each([
    [{}, 'the name of the object (rc based on URL) was undeterminable: name must be provided'],
    [{ name: 'other' }, 'the name of the object (other) does not match the name on the URL (rc)'],
    [{ name: 'rc', namespace: 'other' }, 'the namespace of the provided object does not match the namespace sent on the request'],
  ])('names the object that it is of: %j', async (metadata, message) => {
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    await post('replicationcontrollers', { metadata: { name: 'rc' }, spec: { selector: { a: 'b' }, template } }).catch(() => {});
    const path = '/api/v1/namespaces/default/replicationcontrollers/rc/scale';
    const put = client.transport.request({ method: 'PUT', path, body: { metadata, spec: { replicas: 1 } } });
    expect(await refusal(put)).toMatchObject({ code: 400, message });
  });
});

describe('what services claim', () => {
  it('is in order again after a restart', async () => {
    const spec = { type: 'NodePort', ports: [{ port: 80, nodePort: 30100 }], clusterIP: '10.96.3.3' };
    await client.of(core.Service).create({ metadata: at('kept'), spec } as never);
    await store.txn({ write: [{ type: 'delete', key: '/registry/ranges/servicenodeports/30100' }] });
    await store.txn({ write: [{ type: 'put', key: '/registry/ranges/servicenodeports/30101', value: Buffer.from('default/gone') }] });
    await server[Symbol.asyncDispose]();
    server = start();
    await server.ready;
    client = connect();
    const lateService = { metadata: at('late'), spec: { type: 'NodePort', ports: [{ port: 80, nodePort: 30100 }] } };
    expect((await refusal(client.of(core.Service).create(lateService as never))).message).toContain('provided port is already allocated');
    const free = { metadata: at('late'), spec: { type: 'NodePort', ports: [{ port: 80, nodePort: 30101 }] } };
    await client.of(core.Service).create(free as never);
  });
});
