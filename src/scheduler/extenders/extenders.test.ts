import { createPublicKey } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { core } from '#api';
import {
  createAuthority,
  loadAuthority,
  MetricsRegistry,
  newPrivateKey,
  privateKeyPem,
  realClock,
  seededRandom,
  signCertificate,
  silentLogger,
} from '#base';
import { Client } from '#client';
import { InMemoryCluster } from '../in-memory-cluster.test-setup.ts';
import { node, pod } from '../placement.test-data.ts';
import { startScheduler } from '../scheduler.ts';

const PODS = '/api/v1/pods';
const NODES = '/api/v1/nodes';

const running: AsyncDisposable[] = [];
afterEach(async () => {
  for (const resource of running.splice(0).reverse()) await resource[Symbol.asyncDispose]();
});

type Call = Record<string, unknown> & { readonly Pod?: core.Pod; readonly NodeNames?: readonly string[] };
/** Answers by verb; a number is an HTTP status. */
type Answers = Readonly<Record<string, (call: Call) => unknown>>;

interface Extender {
  readonly urlPrefix: string;
  readonly calls: { readonly verb: string; readonly body: Call }[];
}

async function serve(answers: Answers, tls?: https.ServerOptions): Promise<Extender> {
  const calls: Extender['calls'] = [];
  const handle: http.RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const verb = request.url?.split('/').at(-1) ?? '';
      const body = JSON.parse(Buffer.concat(chunks).toString()) as Call;
      calls.push({ verb, body });
      const answer = answers[verb]?.(body) ?? 404;
      response.writeHead(typeof answer === 'number' ? answer : 200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    });
  };
  const server = tls ? https.createServer(tls, handle) : http.createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  running.push({
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
  return { urlPrefix: `${tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}/scheduler`, calls };
}

async function scheduling(extenders: readonly object[], nodes: readonly core.Node[] = [node('a'), node('b'), node('c')]) {
  const cluster = new InMemoryCluster();
  for (const nodeObject of nodes) cluster.put(NODES, nodeObject);
  const deps = {
    client: new Client(cluster),
    clock: realClock,
    random: seededRandom(1),
    logger: silentLogger,
    metrics: new MetricsRegistry(),
  };
  const scheduler = startScheduler({ configuration: { extenders } }, deps);
  running.push(scheduler);
  await scheduler.ready;
  return cluster;
}

const read = (cluster: InMemoryCluster, name: string) => cluster.get<core.Pod>(PODS, `default/${name}`);
const nodeOf = (cluster: InMemoryCluster, name: string) => expect.poll(() => read(cluster, name)?.spec?.nodeName, { timeout: 20_000 });
const messageOf = (cluster: InMemoryCluster, name: string) =>
  expect.poll(() => read(cluster, name)?.status?.conditions?.find(({ type }) => type === 'PodScheduled')?.message, { timeout: 20_000 });

describe('an extender', () => {
  it('leaves the nodes that it accepts, by name where it knows the nodes', async () => {
    const { urlPrefix, calls } = await serve({ filter: () => ({ NodeNames: ['b'], FailedNodes: { a: 'too loud', c: 'too loud' } }) });
    const cluster = await scheduling([{ urlPrefix, filterVerb: 'filter', nodeCacheCapable: true }]);
    cluster.put(PODS, pod('p'));
    await nodeOf(cluster, 'p').toBe('b');
    expect(calls[0]?.body).toMatchObject({ Pod: { metadata: { name: 'p' } }, Nodes: null });
    expect([...(calls[0]?.body.NodeNames ?? [])].sort()).toEqual(['a', 'b', 'c']);
  });

  it('gets whole nodes where it does not know them', async () => {
    const keepLast = ({ Nodes }: Call) => ({
      nodes: { items: (Nodes as { items: core.Node[] }).items.filter(({ metadata }) => metadata.name === 'c') },
    });
    const { urlPrefix } = await serve({ filter: keepLast });
    const cluster = await scheduling([{ urlPrefix, filterVerb: 'filter' }]);
    cluster.put(PODS, pod('p'));
    await nodeOf(cluster, 'p').toBe('c');
  });

  it('says why no node is left', async () => {
    const answer = { NodeNames: [], FailedNodes: { a: 'too loud' }, FailedAndUnresolvableNodes: { b: 'too far' } };
    const { urlPrefix } = await serve({ filter: () => answer });
    const cluster = await scheduling([{ urlPrefix, filterVerb: 'filter', nodeCacheCapable: true }], [node('a'), node('b')]);
    cluster.put(PODS, pod('p'));
    await messageOf(cluster, 'p').toMatch(/^0\/2 nodes are available: 1 too far, 1 too loud\./);
  });

  it('adds its scores, times its weight, to those of the plugins', async () => {
    const { urlPrefix, calls } = await serve({
      prioritize: ({ NodeNames }) => (NodeNames ?? []).map((Host) => ({ Host, Score: Host === 'b' ? 10 : 0 })),
    });
    const cluster = await scheduling([{ urlPrefix, prioritizeVerb: 'prioritize', weight: 5, nodeCacheCapable: true }]);
    for (const name of ['p', 'q', 'r']) cluster.put(PODS, pod(name));
    for (const name of ['p', 'q', 'r']) await nodeOf(cluster, name).toBe('b');
    expect(calls.map(({ verb }) => verb)).toEqual(['prioritize', 'prioritize', 'prioritize']);
  });

  it('binds instead of the scheduler', async () => {
    const { urlPrefix, calls } = await serve({ bind: () => ({ Error: 'not today' }) });
    const cluster = await scheduling([{ urlPrefix, bindVerb: 'bind' }], [node('a')]);
    cluster.put(PODS, pod('p'));
    await messageOf(cluster, 'p').toBe('not today');
    expect(calls[0]?.body).toMatchObject({ PodName: 'p', PodNamespace: 'default', Node: 'a' });
    expect(read(cluster, 'p')?.spec?.nodeName).toBeUndefined();
  });

  it('is asked about pods that want its resources only', async () => {
    const { urlPrefix, calls } = await serve({ filter: () => ({ NodeNames: ['b'] }) });
    const managedResources = [{ name: 'example.com/foo', ignoredByScheduler: true }];
    const cluster = await scheduling([{ urlPrefix, filterVerb: 'filter', nodeCacheCapable: true, managedResources }]);
    cluster.put(PODS, pod('other'));
    cluster.put(PODS, pod('p', { requests: { 'example.com/foo': '1' } }));
    await nodeOf(cluster, 'p').toBe('b');
    expect(calls.map(({ body }) => body.Pod?.metadata.name)).toEqual(['p']);
  });

  it('that fails holds pods up, unless it may be ignored', async () => {
    const { urlPrefix } = await serve({ filter: () => 500 });
    const strict = await scheduling([{ urlPrefix, filterVerb: 'filter' }]);
    strict.put(PODS, pod('p'));
    await messageOf(strict, 'p').toBe(`failed filter with extender at URL ${urlPrefix}/filter, code 500`);
    const lenient = await scheduling([{ urlPrefix, filterVerb: 'filter', bindVerb: 'bind', ignorable: true }]);
    lenient.put(PODS, pod('p'));
    await nodeOf(lenient, 'p').toBeDefined();
  });

  it('chooses where room is made, and who has to go', async () => {
    const keepB = ({ NodeNameToMetaVictims }: Call) => {
      const { b } = NodeNameToMetaVictims as Record<string, unknown>;
      return { NodeNameToMetaVictims: { b } };
    };
    const { urlPrefix } = await serve({ preempt: keepB });
    const cluster = await scheduling([{ urlPrefix, preemptVerb: 'preempt', nodeCacheCapable: true }], [node('a'), node('b')]);
    // The scheduler itself would choose the less important one.
    cluster.put(PODS, pod('x', { requests: { cpu: '3' }, on: 'a', priority: 1 }));
    cluster.put(PODS, pod('y', { requests: { cpu: '3' }, on: 'b', priority: 2 }));
    cluster.put(PODS, pod('p', { requests: { cpu: '3' }, priority: 10 }));
    await expect.poll(() => read(cluster, 'p')?.status?.nominatedNodeName, { timeout: 20_000 }).toBe('b');
  });

  it('is reached by TLS, with its certificate checked against the authority', async () => {
    const { authority, serving } = certificates();
    const { urlPrefix } = await serve({ filter: () => ({ NodeNames: ['b'] }) }, serving);
    const common = { urlPrefix, filterVerb: 'filter', nodeCacheCapable: true, enableHTTPS: true };
    const trusting = await scheduling([{ ...common, tlsConfig: { caData: Buffer.from(authority).toString('base64') } }]);
    trusting.put(PODS, pod('p'));
    await nodeOf(trusting, 'p').toBe('b');
    const stranger = Buffer.from(certificates().authority).toString('base64');
    const wary = await scheduling([{ ...common, tlsConfig: { caData: stranger } }]);
    wary.put(PODS, pod('p'));
    await messageOf(wary, 'p').toMatch(/certificate/);
  });
});

function certificates() {
  const random = seededRandom(String(running.length));
  const validity = { notBefore: realClock.now() - 60_000, notAfter: realClock.now() + 3_600_000 };
  const pair = createAuthority({ subject: { commonName: 'test' }, ...validity }, random);
  const key = newPrivateKey();
  const template = { subject: { commonName: 'extender' }, publicKey: createPublicKey(key), ipAddresses: ['127.0.0.1'], ...validity };
  const cert = signCertificate(template, loadAuthority(pair), random);
  return { authority: pair.certificate, serving: { cert, key: privateKeyPem(key) } };
}
