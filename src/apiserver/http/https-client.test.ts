import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import http2 from 'node:http2';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { core } from '#api';
import { MetricsRegistry, realClock, seededRandom, silentLogger } from '#base';
import { Client, createClient, httpsTransport, InformerFactory, type Transport } from '#client';
import { isStatusReason } from '#machinery';
import { openMemoryStore } from '#store';
import { LOOPBACK_TLS as tls } from '../admission/webhooks/loopback-certificate.test-data.ts';
import { staticTokens } from '../authn/static-tokens.ts';
import { type ApiServer, startApiServer } from '../server.ts';

const opened: AsyncDisposable[] = [];

afterEach(async () => {
  for (const one of opened.splice(0).toReversed()) await one[Symbol.asyncDispose]();
});

async function serve(): Promise<ApiServer> {
  const store = openMemoryStore({ clock: realClock });
  opened.push({ [Symbol.asyncDispose]: async () => void (await store.close()) });
  const server = startApiServer(
    { listen: { host: '127.0.0.1', port: 0, tls }, version: { major: '1', minor: '36' }, anonymousAuth: false },
    {
      store,
      clock: realClock,
      random: seededRandom(1),
      logger: silentLogger,
      metrics: new MetricsRegistry(),
      catalog: { groups: [] },
      authenticators: [staticTokens(new Map([['secret', { name: 'tester', groups: [] }]]))],
      authorizer: {
        authorize: () => ({ verdict: 'allow', reason: '' }),
        rulesFor: () => ({ resourceRules: [], nonResourceRules: [], incomplete: false }),
      },
      admission: [],
    },
  );
  opened.push(server);
  await server.ready;
  return server;
}

function connect(port: number, token = 'secret'): Transport {
  const config = { server: `https://127.0.0.1:${port}`, ca: tls.cert, credentials: { token } };
  const transport = httpsTransport(config, { clock: realClock, logger: silentLogger });
  opened.push(transport);
  return transport;
}

const named = (name: string, data: Record<string, string> = {}) => ({ metadata: { name, namespace: 'default' }, data });

describe('the https transport', () => {
  it('does over the network what the in-process transport does', async () => {
    const { port } = await serve();
    const maps = new Client(connect(port!)).of(core.ConfigMap);
    const created = await maps.create(named('a', { x: '1' }));
    expect(created).toMatchObject({ kind: 'ConfigMap', metadata: { name: 'a' } });
    const [listed] = (await maps.list()).items;
    expect(listed).toEqual(created);
    await expect(maps.get({ name: 'b', namespace: 'default' })).rejects.toSatisfy((error) => isStatusReason(error, 'NotFound'));
    const warnings: string[] = [];
    await maps.create({ ...named('w'), 'a"b': 1 } as never, { dryRun: true, onWarning: (text) => warnings.push(text) });
    expect(warnings).toEqual(['unknown field "a\\"b"']);
    const partial = await maps.list({ metadataOnly: true });
    expect(partial.items[0]).not.toHaveProperty('data');
    await maps.patch(created.metadata, [{ op: 'replace', path: '/data/x', value: '2' }], { type: 'json' });
    expect((await maps.apply(named('c', { y: '1' }), { fieldManager: 'me' })).data).toEqual({ y: '1' });
    await maps.delete(created.metadata);
  });

  it('follows changes with an informer, many at a time over one connection', async () => {
    const server = await serve();
    const client = new Client(connect(server.port!));
    const stop = new AbortController();
    const informers = new InformerFactory(client, { clock: realClock, random: seededRandom(2), logger: silentLogger });
    const seen: string[] = [];
    const informer = informers.of(core.ConfigMap, { namespace: 'default' });
    const arrived = new Promise<void>((resolve) => {
      informer.addHandler({
        add: ({ metadata }) => seen.push(`add ${metadata.name}`),
        delete: ({ metadata }) => {
          seen.push(`delete ${metadata.name}`);
          resolve();
        },
      });
    });
    informers.of(core.Secret);
    informers.of(core.Service);
    informers.start(stop.signal);
    await informers.synced();
    await client.of(core.ConfigMap).create(named('a'));
    await client.of(core.ConfigMap).delete({ name: 'a', namespace: 'default' });
    await arrived;
    expect(seen).toEqual(['add a', 'delete a']);
    stop.abort();
    await informers.stop();
  });

  it('is made from a kubeconfig alone', async () => {
    const { port } = await serve();
    const directory = await mkdtemp(join(tmpdir(), 'sampan-client-'));
    const path = join(directory, 'config');
    await writeFile(join(directory, 'ca.crt'), tls.cert);
    await writeFile(
      path,
      `clusters: [{ name: c, cluster: { server: 'https://127.0.0.1:${port}', certificate-authority: ca.crt } }]
users: [{ name: u, user: { token: secret } }]
contexts: [{ name: x, context: { cluster: c, user: u } }]
current-context: x`,
    );
    {
      await using client = await createClient({ kubeconfig: { path }, fieldManager: 'somebody' });
      const { metadata } = await client.of(core.ConfigMap).create(named('k', { a: '1' }));
      expect(metadata.managedFields?.[0]?.manager).toBe('somebody');
    }
    await rm(directory, { recursive: true });
  });

  it('aborts a request that is under way', async () => {
    const { port } = await serve();
    const watch = new Client(connect(port!))
      .of(core.ConfigMap)
      .watch({ namespace: 'default', signal: AbortSignal.timeout(50) })
      [Symbol.asyncIterator]();
    await expect(watch.next()).rejects.toMatchObject({ name: 'TimeoutError' });
  });

  it('closes a connection that was opened for a request aborted meanwhile', async () => {
    const server = http2.createSecureServer(tls);
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const transport = connect((server.address() as AddressInfo).port);
    const request = transport.request({ method: 'GET', path: '/', signal: AbortSignal.abort() });
    await expect(request).rejects.toMatchObject({ name: 'AbortError' });
    await transport[Symbol.asyncDispose]();
    await new Promise((resolve) => server.close(resolve));
  });

  it('reports wrong credentials, and an untrusted server', async () => {
    const { port } = await serve();
    await expect(new Client(connect(port!, 'wrong')).of(core.ConfigMap).list()).rejects.toSatisfy((e) => isStatusReason(e, 'Unauthorized'));
    const untrusting = httpsTransport({ server: `https://127.0.0.1:${port}` }, { clock: realClock, logger: silentLogger });
    opened.push(untrusting);
    await expect(untrusting.request({ method: 'GET', path: '/version' })).rejects.toMatchObject({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
  });

  it('reconnects after a restart of the server', async () => {
    const first = http2.createSecureServer(tls, (_, response) => response.end('{"attempt":1}'));
    await new Promise<void>((resolve) => void first.listen(0, '127.0.0.1', resolve));
    const { port } = first.address() as AddressInfo;
    const sessions = new Set<http2.ServerHttp2Session>();
    first.on('session', (session) => sessions.add(session));
    const transport = connect(port);
    expect(await transport.request({ method: 'GET', path: '/' })).toEqual({ attempt: 1 });
    for (const session of sessions) session.destroy();
    await new Promise((resolve) => first.close(resolve));
    const second = http2.createSecureServer(tls, (_, response) => response.end('{"attempt":2}'));
    await new Promise<void>((resolve) => void second.listen(port, '127.0.0.1', resolve));
    expect(await transport.request({ method: 'GET', path: '/' })).toEqual({ attempt: 2 });
    await transport[Symbol.asyncDispose]();
    await new Promise((resolve) => second.close(resolve));
  });

  it('waits as long as the server asks, over HTTP/1.1 too, and sends the body again', async () => {
    const bodies: string[] = [];
    const server = http.createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        bodies.push(body);
        if (bodies.length === 1) response.writeHead(429, { 'retry-after': '7' }).end('slow down');
        else response.end('{"kind":"ConfigMap"}');
      });
    });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const slept: number[] = [];
    const clock = { ...realClock, sleep: async (ms: number) => void slept.push(ms) };
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/base/`;
    const transport = httpsTransport({ server: address }, { clock, logger: silentLogger });
    const answer = await transport.request({ method: 'POST', path: '/api/v1/x', body: { a: 1 } });
    expect({ answer, bodies, slept }).toEqual({ answer: { kind: 'ConfigMap' }, bodies: ['{"a":1}', '{"a":1}'], slept: [7000] });
    await transport[Symbol.asyncDispose]();
    await new Promise((resolve) => server.close(resolve));
  });
});
