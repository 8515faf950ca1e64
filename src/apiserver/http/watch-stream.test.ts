import { once } from 'node:events';
import http2 from 'node:http2';
import { gunzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { core, listSchemaOf, type meta } from '#api';
import { MetricsRegistry, realClock, seededRandom, silentLogger } from '#base';
import { Client } from '#client';
import { decodeEnvelope, decodeProtobuf, WatchFrameReader } from '#machinery';
import { openMemoryStore } from '#store';
import { LOOPBACK_TLS } from '../admission/webhooks/loopback-certificate.test-data.ts';
import { inProcessTransport } from '../in-process/in-process-transport.ts';
import { type ApiServer, startApiServer } from '../server.ts';

const random = seededRandom('watch-stream');
const opened: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).toReversed()) await one[Symbol.asyncDispose]();
});

async function serve(store = openMemoryStore({ clock: realClock })) {
  opened.push(store);
  const metrics = new MetricsRegistry();
  const server = startApiServer(
    { listen: { host: '127.0.0.1', port: 0, tls: LOOPBACK_TLS }, version: {}, anonymousAuth: true, systemObjects: false },
    { store, clock: realClock, random, logger: silentLogger, metrics, admission: [] },
  );
  opened.push(server);
  await server.ready;
  const user = { name: 'admin', groups: ['system:masters'] };
  const client = new Client(inProcessTransport(server.handle, user, { clock: realClock }), { fieldManager: 'test' });
  opened.push({ [Symbol.asyncDispose]: async () => void (await client.transport[Symbol.asyncDispose]()) });
  return { server, client, metrics };
}

/** A stream on its own connection, which is not read until the test does. */
async function watch({ port }: ApiServer, path: string, accept = 'application/json') {
  const session = http2.connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
  session.on('error', () => {});
  opened.push({
    [Symbol.asyncDispose]: async () => {
      session.destroy();
    },
  });
  const stream = session.request({ ':path': path, accept });
  stream.on('error', () => {});
  const [headers] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders];
  expect(headers[':status']).toBe(200);
  return stream;
}

interface Event {
  readonly type: string;
  readonly object: { apiVersion?: string; metadata: { name: string; annotations?: Record<string, string> } };
}

/** Reads JSON events until `isLast`, with a pause after each chunk. */
async function readEvents(stream: http2.ClientHttp2Stream, isLast: (event: Event) => boolean, pauseMs = 0): Promise<Event[]> {
  const events: Event[] = [];
  let rest = '';
  for await (const chunk of stream) {
    const lines = (rest + String(chunk)).split('\n');
    rest = lines.pop()!;
    for (const line of lines) {
      events.push(JSON.parse(line) as Event);
      if (isLast(events.at(-1)!)) return events;
    }
    if (pauseMs > 0) await realClock.sleep(pauseMs);
  }
  throw new Error(`the watch ended after ${events.length} events`);
}

const isEndOfState = ({ type, object }: Event) =>
  type === 'BOOKMARK' && object.metadata.annotations?.['k8s.io/initial-events-end'] === 'true';
const MAPS = '/api/v1/namespaces/default/configmaps?watch=true';
const WITH_STATE = '&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
const nameOf = (i: number) => `m-${String(i).padStart(5, '0')}`;
const mapOf = (i: number, bytes: number) => ({ metadata: { name: nameOf(i), namespace: 'default' }, data: { text: 'x'.repeat(bytes) } });

describe('a watch over the network', () => {
  test('has the version of the group that it asked for, whoever else watches the same object', async () => {
    const { server, client } = await serve();
    const paths = { v1: '/api/v1/events?watch=true', 'events.k8s.io/v1': '/apis/events.k8s.io/v1/events?watch=true' };
    const streams = await Promise.all(Object.values(paths).map((path) => watch(server, path)));
    const involvedObject = { kind: 'Pod', name: 'a', namespace: 'default' };
    await client.of(core.Event).create({ metadata: { name: 'a.1', namespace: 'default' }, involvedObject, reason: 'Started' } as never);
    const events = await Promise.all(streams.map((stream) => readEvents(stream, () => true)));
    expect(events.map(([event]) => event!.object.apiVersion)).toEqual(Object.keys(paths));
  });

  test('from a revision that a restarted server has no changes of says so', async () => {
    const store = openMemoryStore({ clock: realClock });
    for (let i = 0; i < 5; i++) await (await serve(store)).client.of(core.ConfigMap).create(mapOf(i, 1));
    const { server, client } = await serve(store);
    await client.of(core.ConfigMap).create(mapOf(5, 1));
    const [event] = await readEvents(await watch(server, `${MAPS}&resourceVersion=1`), () => true);
    expect(event).toMatchObject({ type: 'ERROR', object: { code: 410 } });
  });

  test('brings the whole state and what follows it, in order, to a client that reads slowly', async () => {
    const { server, client } = await serve();
    const maps = client.of(core.ConfigMap);
    for (let i = 0; i < 200; i++) await maps.create(mapOf(i, 10_000));
    const stream = await watch(server, MAPS + WITH_STATE);
    for (let i = 200; i < 260; i++) await maps.create(mapOf(i, 10_000));
    const events = await readEvents(stream, ({ object }) => object.metadata.name === nameOf(259), 2);
    expect(events.findIndex(isEndOfState)).toBe(200);
    const names = events.filter((event) => event.type === 'ADDED').map(({ object }) => object.metadata.name);
    expect(names).toEqual(Array.from({ length: 260 }, (_, i) => nameOf(i)));
  });

  test('brings state, changes and bookmarks as protobuf', async () => {
    const { server, client } = await serve();
    const maps = client.of(core.ConfigMap);
    for (let i = 0; i < 100; i++) await maps.create(mapOf(i, 3_000));
    const stream = await watch(server, MAPS + WITH_STATE, 'application/vnd.kubernetes.protobuf');
    await maps.create(mapOf(100, 3_000));
    await maps.delete({ name: nameOf(7), namespace: 'default' });
    const reader = new WatchFrameReader();
    const seen: string[] = [];
    for await (const chunk of stream) {
      for (const { type, object } of reader.push(chunk as Buffer)) {
        const envelope = decodeEnvelope(object);
        const { metadata } = decodeProtobuf(core.ConfigMap, envelope.message) as { metadata: meta.ObjectMeta };
        seen.push(`${type} ${envelope.apiVersion} ${envelope.kind} ${metadata.name ?? ''}`);
      }
      if (seen.length === 103) break;
    }
    expect(seen.slice(0, 2)).toEqual([`ADDED v1 ConfigMap ${nameOf(0)}`, `ADDED v1 ConfigMap ${nameOf(1)}`]);
    expect(seen.slice(100)).toEqual(['BOOKMARK v1 ConfigMap ', `ADDED v1 ConfigMap ${nameOf(100)}`, `DELETED v1 ConfigMap ${nameOf(7)}`]);
  });

  test('is ended for a client that lets too much wait, with a reason, and goes on for others', async () => {
    const { server, client, metrics } = await serve();
    const maps = client.of(core.ConfigMap);
    const [stuck, reading] = [await watch(server, MAPS), await watch(server, MAPS)];
    const read = readEvents(reading, ({ object }) => object.metadata.name === nameOf(199));
    for (let i = 0; i < 200; i++) {
      await maps.create(mapOf(i, 100_000));
      // A store in memory never waits, so reads would starve.
      await realClock.sleep(1);
    }
    expect(await read).toHaveLength(200);
    expect(metrics.text()).toContain('apiserver_terminated_watchers_total{group="",resource="configmaps",reason="PendingLimit"} 1');
    const message = await readEvents(stuck, () => false).catch((error: Error) => error.message);
    expect(message).toMatch(/^the watch ended after \d+ events$/);
  });
});

test('a long list is the same whole, in chunks, compressed, as JSON and as protobuf', async () => {
  const { server, client } = await serve();
  for (let i = 0; i < 600; i++) await client.of(core.ConfigMap).create(mapOf(i, 1_000));
  const session = http2.connect(`https://127.0.0.1:${server.port}`, { rejectUnauthorized: false });
  opened.push({ [Symbol.asyncDispose]: async () => void session.destroy() });
  const read = async (accept: string, encoding: string) => {
    const stream = session.request({ ':path': MAPS.split('?')[0], accept, 'accept-encoding': encoding });
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk as Buffer);
    const bytes = Buffer.concat(chunks);
    return encoding === 'gzip' ? gunzipSync(bytes) : bytes;
  };
  const json = await read('application/json', 'identity');
  expect((await read('application/json', 'gzip')).equals(json)).toBe(true);
  const protobuf = await read('application/vnd.kubernetes.protobuf', 'identity');
  expect((await read('application/vnd.kubernetes.protobuf', 'gzip')).equals(protobuf)).toBe(true);
  const { kind, message } = decodeEnvelope(protobuf);
  const { items } = decodeProtobuf(listSchemaOf(core.ConfigMap), message) as unknown as { items: object[] };
  const plain = JSON.parse(String(json)) as { items: object[] };
  expect([kind, items.length]).toEqual(['ConfigMapList', 600]);
  expect(items[599]).toMatchObject({ data: (plain.items[599] as { data: object }).data });
});
