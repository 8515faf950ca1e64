import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import http2 from 'node:http2';
import * as k8s from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { core, listSchemaOf, meta } from '#api';
import {
  decodeEnvelope,
  decodeProtobuf,
  encodeEnvelope,
  encodeProtobuf,
  type JsonObject,
  type ObjectSchema,
  WatchFrameReader,
} from '#machinery';
import { freePort } from '../../src/store/contract/free-port.ts';
import { Workplace } from './sampan-process.ts';

let at: Workplace;
let port: number;
const up = async () => {
  const { code, stderr } = await at.sampan('up', '--runtime', 'simulated', '-d', '--port', String(port), '--nodes', '1');
  expect(code, stderr).toBe(0);
};

beforeAll(async () => {
  at = new Workplace();
  port = await freePort();
  await up();
});

afterAll(async () => {
  await at.sampan('delete', '--yes');
  await at[Symbol.asyncDispose]();
});

describe('an informer of @kubernetes/client-node', () => {
  const NAMESPACE = 'default';
  const map = (name: string, value: string): k8s.V1ConfigMap => ({ metadata: { name, labels: { watched: 'yes' } }, data: { value } });

  test('lists, follows changes and deletions, and goes on after the server was away', async () => {
    const config = new k8s.KubeConfig();
    config.loadFromString(readFileSync(at.path('.kube/config'), 'utf8'));
    const api = config.makeApiClient(k8s.CoreV1Api);
    const create = (name: string) => api.createNamespacedConfigMap({ namespace: NAMESPACE, body: map(name, '1') });
    await create('first');
    const path = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
    const list = () => api.listNamespacedConfigMap({ namespace: NAMESPACE, labelSelector: 'watched=yes' });
    const informer = k8s.makeInformer(config, path, list, 'watched=yes');
    const seen: string[] = [];
    for (const event of ['add', 'update', 'delete'] as const)
      informer.on(event, (object) => seen.push(`${event} ${object.metadata?.name}`));
    let failures = 0;
    informer.on('error', () => {
      failures++;
    });
    await informer.start();
    expect(seen).toEqual(['add first']);
    await create('second');
    await api.replaceNamespacedConfigMap({ name: 'second', namespace: NAMESPACE, body: map('second', '2') });
    await api.deleteNamespacedConfigMap({ name: 'first', namespace: NAMESPACE });
    await expect.poll(() => seen, { timeout: 10_000 }).toEqual(['add first', 'add second', 'update second', 'delete first']);
    expect(informer.get('second', NAMESPACE)?.data).toEqual({ value: '2' });

    expect((await at.sampan('down')).code).toBe(0);
    await expect.poll(() => failures, { timeout: 10_000 }).toBeGreaterThan(0);
    await up();
    await create('third');
    await informer.start();
    await create('fourth');
    await expect
      .poll(() => informer.list(NAMESPACE).map(({ metadata }) => metadata?.name), { timeout: 10_000 })
      .toEqual(expect.arrayContaining(['second', 'third', 'fourth']));
    expect(informer.get('first', NAMESPACE)).toBeUndefined();
    await informer.stop();
  });

  test('reads the errors of the server', async () => {
    const config = new k8s.KubeConfig();
    config.loadFromString(readFileSync(at.path('.kube/config'), 'utf8'));
    const api = config.makeApiClient(k8s.CoreV1Api);
    const failure = await api.readNamespacedPod({ name: 'nope', namespace: NAMESPACE }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(k8s.ApiException);
    expect(JSON.parse((failure as k8s.ApiException<string>).body)).toMatchObject({ reason: 'NotFound', message: 'pods "nope" not found' });
  });
});

const PROTOBUF = 'application/vnd.kubernetes.protobuf';

interface Sent {
  readonly method?: string;
  readonly path: string;
  readonly object?: { readonly schema: ObjectSchema; readonly value: JsonObject };
}

/** Like client-go: protobuf, with everything on one connection. */
class ProtobufClient {
  readonly #session: http2.ClientHttp2Session;

  constructor() {
    const config = new k8s.KubeConfig();
    config.loadFromString(readFileSync(at.path('.kube/config'), 'utf8'));
    const user = config.getCurrentUser()!;
    const pem = (text: string | undefined) => Buffer.from(text ?? '', 'base64');
    this.#session = http2.connect(config.getCurrentCluster()!.server, {
      ca: pem(config.getCurrentCluster()!.caData),
      cert: pem(user.certData),
      key: pem(user.keyData),
    });
  }

  open({ method = 'GET', path, object }: Sent): http2.ClientHttp2Stream {
    const headers = { ':method': method, ':path': path, accept: `${PROTOBUF},application/json`, 'user-agent': 'test/v0 (linux/amd64)' };
    const stream = this.#session.request({ ...headers, ...(object && { 'content-type': PROTOBUF }) }, { endStream: !object });
    if (object) {
      const { apiVersion, kind } = object.value as { apiVersion: string; kind: string };
      stream.end(encodeEnvelope({ apiVersion, kind }, encodeProtobuf(object.schema, object.value)));
    }
    return stream;
  }

  async send(sent: Sent, schema: ObjectSchema): Promise<JsonObject> {
    const stream = this.open(sent);
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    const [headers] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders & { ':status': number }];
    await once(stream, 'end');
    expect(headers, `${sent.method} ${sent.path}`).toMatchObject({ 'content-type': PROTOBUF });
    const { message, ...type } = decodeEnvelope(Buffer.concat(chunks));
    return { code: headers[':status'], ...type, ...decodeProtobuf(schema, message) };
  }

  async close(): Promise<void> {
    const closed = once(this.#session, 'close');
    this.#session.destroy();
    await closed;
  }
}

describe('a client that puts everything on one HTTP/2 connection, in protobuf', () => {
  const MAPS = '/api/v1/namespaces/default/configmaps';
  const WATCHES = 200;
  const OBJECTS = 200;

  test('has hundreds of requests and watches open at once', async () => {
    const client = new ProtobufClient();
    const watches = await Promise.all(
      Array.from({ length: WATCHES }, async () => {
        const stream = client.open({ path: `${MAPS}?watch=true&labelSelector=many&timeoutSeconds=60` });
        const [headers] = (await once(stream, 'response')) as [Record<string, unknown>];
        expect(headers).toMatchObject({ ':status': 200, 'content-type': `${PROTOBUF};stream=watch` });
        const reader = new WatchFrameReader();
        const types = new Map<string, number>();
        const names = new Set<string>();
        stream.on('data', (chunk: Buffer) => {
          for (const { type, object } of reader.push(chunk)) {
            types.set(type, (types.get(type) ?? 0) + 1);
            const { metadata } = decodeProtobuf(core.ConfigMap, decodeEnvelope(object).message) as { metadata: { name: string } };
            names.add(metadata.name);
          }
        });
        return { stream, types, names };
      }),
    );
    const object = (i: number) => ({
      schema: core.ConfigMap,
      value: {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: `many-${i}`, namespace: 'default', labels: { many: String(i % 2) } },
        data: { text: 'ünï', number: String(i) },
        binaryData: { bytes: 'AP8=' },
      },
    });
    const all = Array.from({ length: OBJECTS }, (_, i) => i);
    const created = await Promise.all(all.map((i) => client.send({ method: 'POST', path: MAPS, object: object(i) }, core.ConfigMap)));
    for (const [i, answer] of created.entries()) {
      expect(answer).toMatchObject({
        code: 201,
        apiVersion: 'v1',
        kind: 'ConfigMap',
        data: { text: 'ünï', number: String(i) },
        binaryData: { bytes: 'AP8=' },
      });
    }
    const read = await Promise.all(all.map((i) => client.send({ path: `${MAPS}/many-${i}` }, core.ConfigMap)));
    expect(read.map((answer) => (answer.metadata as JsonObject).resourceVersion)).toEqual(
      created.map((answer) => (answer.metadata as JsonObject).resourceVersion),
    );
    const list = await client.send({ path: `${MAPS}?labelSelector=many%3D1&limit=30` }, listSchemaOf(core.ConfigMap));
    expect(list).toMatchObject({ kind: 'ConfigMapList', metadata: { continue: expect.any(String) } });
    expect(list.items).toHaveLength(30);
    await expect.poll(() => watches.every(({ types }) => types.get('ADDED') === OBJECTS), { timeout: 20_000 }).toBe(true);
    await Promise.all(all.map((i) => client.send({ method: 'DELETE', path: `${MAPS}/many-${i}` }, meta.Status)));
    await expect.poll(() => watches.every(({ types }) => types.get('DELETED') === OBJECTS), { timeout: 20_000 }).toBe(true);
    expect(new Set(watches.map(({ names }) => names.size))).toEqual(new Set([OBJECTS]));
    await client.close();
  });
});
