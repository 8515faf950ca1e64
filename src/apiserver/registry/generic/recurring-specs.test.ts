import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import { afterEach, describe, expect, it } from 'vitest';
import { core } from '#api';
import { MetricsRegistry, realClock, seededRandom, silentLogger } from '#base';
import { Client } from '#client';
import { decodeEnvelope, decodeProtobuf, encodeEnvelope, encodeProtobuf, type JsonObject } from '#machinery';
import { openMemoryStore } from '#store';
import { LOOPBACK_TLS } from '../../admission/webhooks/loopback-certificate.test-data.ts';
import { inProcessTransport } from '../../in-process/in-process-transport.ts';
import { startApiServer } from '../../server.ts';
import { RecurringSpecs } from './recurring-specs.ts';

describe('specs', () => {
  it('are known from the second time on that they come', () => {
    const specs = new RecurringSpecs();
    const { text, rest } = specs.find(Buffer.from('{"a":1,"spec":{"x":"ä"},"b":2}'))!;
    expect(rest().toString()).toBe('{"a":1,"spec":null,"b":2}');
    specs.learn(text, { x: 'ä' });
    expect(specs.recall(text)).toBeUndefined();
    const again = { x: 'ä' };
    specs.learn(text, again);
    expect(specs.recall(text)).toBe(again);
  });

  it('are forgotten when many others came since', () => {
    const specs = new RecurringSpecs();
    for (const text of ['kept', 'kept', 'lost', 'lost']) specs.learn(text, { text });
    for (let i = 0; i < 255; i++) {
      specs.learn(`other ${i}`, {});
      specs.recall('kept');
    }
    expect(specs.recall('kept')).toEqual({ text: 'kept' });
    expect(specs.recall('lost')).toBeUndefined();
  });

  it('are found in protobuf where they stand once, and are other texts than those of JSON', () => {
    const specs = new RecurringSpecs();
    const named = encodeProtobuf(core.Pod, { metadata: { name: 'a' } });
    const spec = encodeProtobuf(core.Pod, { spec: { hostname: 'h' } });
    const location = specs.findInMessage(Buffer.concat([named, spec]), core.Pod)!;
    expect(location.rest()).toEqual(named);
    expect(location.text).toBe(specs.findInMessage(spec, core.Pod)!.text);
    expect(location.text).not.toBe(specs.find(Buffer.from('{"spec":{"hostname":"h"}}'))!.text);
    expect(specs.findInMessage(Buffer.concat([spec, named, spec]), core.Pod)).toBeUndefined();
    expect(specs.findInMessage(named, core.Pod)).toBeUndefined();
    expect(specs.findInMessage(spec.subarray(0, -1), core.Pod)).toBeUndefined();
  });

  it('are not looked for in long documents', () => {
    expect(new RecurringSpecs().find(Buffer.from(`{"spec":{"x":"${'y'.repeat(40_000)}"}}`))).toBeUndefined();
  });
});

const opened: AsyncDisposable[] = [];
afterEach(async () => {
  for (const resource of opened.splice(0).toReversed()) await resource[Symbol.asyncDispose]();
});

async function serve(isAdmitting = false) {
  const timing = { clock: realClock, random: seededRandom(1) };
  const store = openMemoryStore(timing);
  opened.push({ [Symbol.asyncDispose]: async () => void (await store.close()) });
  const deps = { ...timing, store, logger: silentLogger, metrics: new MetricsRegistry(), ...(!isAdmitting && { admission: [] }) };
  const listen = { host: '127.0.0.1', port: 0, tls: LOOPBACK_TLS };
  const server = startApiServer({ listen, version: {}, anonymousAuth: true, systemObjects: false }, deps);
  opened.push(server);
  await server.ready;
  return {
    client: new Client(inProcessTransport(server.handle, { name: 'tester', groups: [] }, timing), { fieldManager: 'test' }),
    post: (text: string, query = '') => post(server.port!, text, query),
    postMessage: (message: Buffer) => postMessage(server.port!, message),
  };
}

interface Answer {
  readonly code: number | undefined;
  readonly warning: unknown;
  readonly body: core.Pod & { readonly message?: string };
}

async function post(port: number, text: string, query: string): Promise<Answer> {
  const { response, body } = await send({ port, path: `${PODS}${query}`, headers: { 'content-type': 'application/json' } }, text);
  return { code: response.statusCode, warning: response.headers.warning, body: JSON.parse(body.toString()) as Answer['body'] };
}

/** Protobuf both ways. */
async function postMessage(port: number, message: Buffer): Promise<Answer> {
  const envelope = encodeEnvelope({ apiVersion: 'v1', kind: 'Pod' }, message);
  const { response, body } = await send({ port, path: PODS, headers: { 'content-type': PROTOBUF, accept: PROTOBUF } }, envelope);
  const { kind, message: answer } = decodeEnvelope(body);
  return {
    code: response.statusCode,
    warning: response.headers.warning,
    body: (kind === 'Pod' ? decodeProtobuf(core.Pod, answer) : { message: answer.toString() }) as unknown as Answer['body'],
  };
}

const PODS = '/api/v1/namespaces/default/pods';
const PROTOBUF = 'application/vnd.kubernetes.protobuf';

function send(
  options: https.RequestOptions,
  sent: Buffer | string,
): Promise<{ readonly response: IncomingMessage; readonly body: Buffer }> {
  return new Promise((resolve, reject) => {
    const request = https.request({ host: '127.0.0.1', method: 'POST', rejectUnauthorized: false, ...options }, async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk as Buffer);
      resolve({ response, body: Buffer.concat(chunks) });
    });
    request.on('error', reject);
    request.end(sent);
  });
}

const MAIN = { name: 'main', image: 'app', env: [{ name: 'A', value: 'ä "}{' }], resources: { limits: { cpu: '1.0', memory: '1Gi' } } };
const SPEC = { containers: [MAIN] };
const pod = (name: string, spec: unknown = SPEC) => JSON.stringify({ metadata: { name, labels: { app: 'a' } }, spec });

/** What does not differ between two pods of one template. */
function common({ metadata: { name: _n, uid: _u, resourceVersion: _r, ...metadata }, ...rest }: core.Pod) {
  return {
    metadata: { ...metadata, creationTimestamp: '', managedFields: metadata.managedFields?.map(({ time: _, ...entry }) => entry) },
    ...rest,
  };
}

describe('pods with the same spec', () => {
  it('are all like the first', async () => {
    const { post } = await serve();
    const { body: first } = await post(pod('a'));
    expect(first.spec!.containers[0]!.resources!.requests).toEqual({ cpu: '1', memory: '1Gi' });
    for (const name of ['b', 'c', 'd']) {
      const { code, body } = await post(pod(name));
      expect(code).toBe(201);
      expect(common(body)).toEqual(common(first));
    }
  });

  it('are what was sent where their metadata differs', async () => {
    const { post } = await serve();
    for (const name of ['a', 'b', 'c']) await post(pod(name));
    const other = { metadata: { name: 'd', annotations: { 'scheduler.alpha.kubernetes.io/critical-pod': '' } }, spec: SPEC };
    const { body, warning } = await post(JSON.stringify(other));
    expect(body.metadata.labels).toBeUndefined();
    expect(warning).toContain('non-functional in v1.16+');
    expect((await post(pod('BAD'))).body.message).toContain('metadata.name: Invalid value: "BAD"');
  });

  it('are refused each time when the spec is invalid', async () => {
    const { post } = await serve();
    const messages = new Set<string>();
    for (const _ of [1, 2, 3, 4]) {
      const { code, body } = await post(pod('a', { containers: [{ name: 'main' }] }));
      expect(code).toBe(422);
      messages.add(body.message!);
    }
    expect([...messages]).toEqual(['Pod "a" is invalid: spec.containers[0].image: Required value']);
  });

  it('give each client the warnings and errors that it asked for', async () => {
    const { post } = await serve();
    const odd = (name: string) => pod(name, { ...SPEC, nope: 1 });
    for (const name of ['a', 'b', 'c']) expect((await post(odd(name), '?fieldValidation=Ignore')).warning).toBeUndefined();
    expect((await post(odd('d'))).warning).toContain('unknown field \\"spec.nope\\"');
    expect((await post(odd('e'), '?fieldValidation=Strict')).code).toBe(400);
    const doubtful = (name: string) => pod(name, { containers: [{ ...MAIN, env: [...MAIN.env, ...MAIN.env] }] });
    for (const name of ['f', 'g', 'h', 'i']) expect((await post(doubtful(name))).warning).toContain('hides previous definition of');
  });

  it('are not mistaken for those that name their spec twice', async () => {
    const { post } = await serve();
    for (const name of ['a', 'b', 'c']) await post(pod(name));
    const twice = pod('d').replace(/}$/, ',"\\u0073pec":{"hostname":"h"}}');
    const { body, warning } = await post(twice);
    expect(warning).toContain('duplicate field \\"spec\\"');
    expect(body.spec).toMatchObject({ hostname: 'h', containers: [{ name: 'main' }] });
    const { code, body: status } = await post(`${pod('e')}}`);
    expect(code).toBe(400);
    expect(status.message).toContain("invalid character '}' after top-level value");
  });

  it('are recognized when they come from within the process, and share what they have alike', async () => {
    const { client } = await serve();
    const created: core.Pod[] = [];
    for (const name of ['a', 'b', 'c', 'd']) {
      created.push(
        await client.of(core.Pod).create({ metadata: { name, namespace: 'default', labels: { app: 'a' } }, spec: SPEC as core.PodSpec }),
      );
    }
    expect(created.map(common)).toEqual(created.map(() => common(created[0]!)));
    expect(created[3]!.spec).toBe(created[2]!.spec);
    expect(created[3]!.spec).not.toBe(created[0]!.spec);
  });

  it('have each a name of their own for the volume with their token', async () => {
    const { client, post } = await serve(true);
    await client.of(core.Namespace).create({ metadata: { name: 'default' } });
    await client.of(core.ServiceAccount).create({ metadata: { name: 'default', namespace: 'default' } });
    const names = new Set<string>();
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      const { body } = await post(pod(name));
      const volume = body.spec!.volumes![0]!.name;
      names.add(volume);
      expect(volume).toMatch(/^kube-api-access-[a-z0-9]{5}$/);
      expect(body.spec!.containers[0]!.volumeMounts).toEqual([expect.objectContaining({ name: volume })]);
      expect(body.spec!.tolerations).toHaveLength(2);
      expect(await client.of(core.Pod).get({ namespace: 'default', name })).toEqual(body);
    }
    expect(names.size).toBe(5);
  });

  it('are alike in protobuf and in JSON', async () => {
    const { client, post, postMessage } = await serve(true);
    await client.of(core.Namespace).create({ metadata: { name: 'default' } });
    await client.of(core.ServiceAccount).create({ metadata: { name: 'default', namespace: 'default' } });
    const message = (name: string, spec: object = SPEC) =>
      encodeProtobuf(core.Pod, { metadata: { name, labels: { app: 'a' } }, spec } as unknown as JsonObject);
    const { body: first } = await post(pod('json'));
    for (const name of ['a', 'b', 'c', 'd']) {
      const { code, body } = await postMessage(message(name));
      expect(code).toBe(201);
      const live = await client.of(core.Pod).get({ namespace: 'default', name });
      expect(body).toEqual({ ...live, kind: undefined, apiVersion: undefined });
      const token = live.spec!.volumes![0]!.name;
      expect(token).not.toBe(first.spec!.volumes![0]!.name);
      expect(JSON.stringify(common(live).spec)).toHaveLength(JSON.stringify(first.spec).length);
      expect(live.metadata.labels).toEqual({ app: 'a' });
    }
    // A later occurrence of the same message is laid over the earlier one.
    const twice = Buffer.concat([message('e'), encodeProtobuf(core.Pod, { spec: { hostname: 'h' } })]);
    expect((await postMessage(twice)).body.spec).toMatchObject({ hostname: 'h', containers: [{ name: 'main' }] });
    expect((await postMessage(message('f', { containers: [{ name: 'main' }] }))).body.message).toContain('image: Required value');
  });

  it('keep a volume that has the name of one for a token', async () => {
    const { client, post } = await serve(true);
    await client.of(core.Namespace).create({ metadata: { name: 'default' } });
    await client.of(core.ServiceAccount).create({ metadata: { name: 'default', namespace: 'default' } });
    const spec = { ...SPEC, volumes: [{ name: 'kube-api-access-xxxxx', emptyDir: {} }] };
    for (const name of ['a', 'b', 'c', 'd']) {
      const { body } = await post(pod(name, spec));
      expect(body.spec!.volumes).toEqual(spec.volumes);
      expect(body.spec!.containers[0]!.volumeMounts![0]!.name).toBe('kube-api-access-xxxxx');
    }
  });
});
