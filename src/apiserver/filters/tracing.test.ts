import { once } from 'node:events';
import https from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { admissionregistration, core } from '#api';
import {
  type DialTarget,
  EXPORT_TRACES,
  GrpcServer,
  type MessageOf,
  MetricsRegistry,
  realClock,
  type SpanExporter,
  type SpanMessage,
  seededRandom,
  silentLogger,
  Tracer,
  unaryMethod,
} from '#base';
import { Client } from '#client';
import { openMemoryStore } from '#store';
import { LOOPBACK_TLS } from '../admission/webhooks/loopback-certificate.test-data.ts';
import type { EgressSelector } from '../egress/egress-selector.ts';
import { inProcessTransport } from '../in-process/in-process-transport.ts';
import { type ApiServer, startApiServer } from '../server.ts';
import { parseTracingConfiguration } from '../tracing/tracing-configuration.ts';
import { traceRequests } from './tracing.ts';

type ExportedSpan = MessageOf<typeof SpanMessage>;

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
let spans: ExportedSpan[] = [];
let resource: Record<string, string | undefined> = {};
let collector: GrpcServer;
beforeAll(async () => {
  const handle = ({ resourceSpans }: MessageOf<typeof EXPORT_TRACES.request>) => {
    for (const { resource: exported, scopeSpans } of resourceSpans) {
      resource = Object.fromEntries((exported?.attributes ?? []).map(({ key, value }) => [key, value?.text]));
      spans.push(...scopeSpans.flatMap((scope) => scope.spans));
    }
    return {};
  };
  collector = await GrpcServer.start({ endpoint: 'http://127.0.0.1:0', methods: [unaryMethod(EXPORT_TRACES, handle)] });
});
afterAll(() => collector[Symbol.asyncDispose]());
beforeEach(() => {
  spans = [];
});

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const attributesOf = ({ attributes }: ExportedSpan) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value?.text ?? value?.number ?? value?.flag]));

/** What a collector has got of these requests, once the server has stopped: nothing is lost then. */
async function traced(
  samplingRatePerMillion: number,
  work: (server: ApiServer) => Promise<unknown>,
  egress?: EgressSelector,
): Promise<readonly ExportedSpan[]> {
  const store = openMemoryStore({ clock: realClock });
  const text = `{apiVersion: apiserver.config.k8s.io/v1beta1, kind: TracingConfiguration, endpoint: "${new URL(collector.endpoint).host}", samplingRatePerMillion: ${samplingRatePerMillion}}`;
  const server = startApiServer(
    { version: {}, anonymousAuth: false, systemObjects: false, tracing: parseTracingConfiguration(text) },
    { store, clock: realClock, random: seededRandom(1), logger: silentLogger, metrics: new MetricsRegistry(), egress },
  );
  await server.ready;
  await work(server);
  await server[Symbol.asyncDispose]();
  await store.close();
  return spans;
}

function clientOf(server: ApiServer, groups: readonly string[]): Client {
  return new Client(inProcessTransport(server.handle, { name: 'a', groups: [...groups] }, { clock: realClock, userAgent: 'tester' }));
}

test('requests and their handlers have spans, named as upstream names them', async () => {
  const exported = await traced(1_000_000, async (server) => {
    const client = clientOf(server, ['system:masters']);
    await client.of(core.Namespace).create({ metadata: { name: 'n' } });
    await client.of(core.ConfigMap).create({ metadata: { name: 'm', namespace: 'n' } });
    await client.of(core.ConfigMap).get({ namespace: 'n', name: 'm' });
    await client
      .of(core.ConfigMap)
      .get({ namespace: 'n', name: 'absent' })
      .catch(() => {});
  });
  const own = exported.filter((span) => attributesOf(span)['user_agent.original'] === 'tester');
  expect(own.map(({ name }) => name)).toEqual([
    'POST /api/v1/namespaces',
    'POST /api/v1/namespaces/{:namespace}/configmaps',
    'GET /api/v1/namespaces/{:namespace}/configmaps/{:name}',
    'GET /api/v1/namespaces/{:namespace}/configmaps/{:name}',
  ]);
  expect(own.map((span) => attributesOf(span)['http.response.status_code'])).toEqual([201, 201, 200, 404]);
  const get = own[2]!;
  const handler = exported.find(({ parentSpanId }) => hex(parentSpanId) === hex(get.spanId))!;
  expect([handler.name, hex(handler.traceId), handler.kind]).toEqual(['Get', hex(get.traceId), 1]);
  expect(attributesOf(handler)).toMatchObject({ resource: 'configmaps', scope: 'resource', 'user-agent': 'tester' });
  expect(handler.endTimeUnixNano >= handler.startTimeUnixNano && get.startTimeUnixNano > 0n).toBe(true);
  expect(resource).toEqual({ 'service.name': 'apiserver', 'service.instance.id': '' });
});

/** A webhook that allows everything and records the trace context of its calls. */
async function openWebhook() {
  const traceparents: (string | string[] | undefined)[] = [];
  const server = https.createServer(LOOPBACK_TLS, (request, response) => {
    traceparents.push(request.headers.traceparent);
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => {
      const { uid } = (JSON.parse(body) as { request: { uid: string } }).request;
      const review = { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', response: { uid, allowed: true } };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(review));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const configuration = {
    metadata: { name: 'w' },
    webhooks: [
      {
        name: 'a.example.com',
        clientConfig: { url: `https://localhost:${port}/`, caBundle: Buffer.from(LOOPBACK_TLS.cert).toString('base64') },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  };
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { configuration, port, traceparents, [Symbol.dispose]: close };
}

test('webhooks, the proxies on the way to them, and the store have spans within those of the handlers that wait for them', async () => {
  using webhook = await openWebhook();
  const dial = async ({ port }: DialTarget) => {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return socket;
  };
  const egress = { controlplane: Object.assign(dial, { protocol: 'http_connect', transport: 'uds' }) };
  const exported = await traced(
    1_000_000,
    async (server) => {
      const client = clientOf(server, ['system:masters']);
      await client.of(core.Namespace).create({ metadata: { name: 'n' } });
      await client.of(admissionregistration.ValidatingWebhookConfiguration).create(webhook.configuration as never);
      await client.of(core.ConfigMap).create({ metadata: { name: 'm', namespace: 'n' } });
    },
    egress,
  );
  const childrenOf = (id: Uint8Array) => exported.filter(({ parentSpanId }) => hex(parentSpanId) === hex(id));
  const request = exported.find(({ name }) => name === 'POST /api/v1/namespaces/{:namespace}/configmaps')!;
  const [handler] = childrenOf(request.spanId);
  const called = childrenOf(handler!.spanId);
  const call = called.find(({ name }) => name === 'Call validating webhook');
  const write = called.find(({ name }) => name === 'etcdserverpb.KV/Txn');
  expect(attributesOf(call!)).toMatchObject({
    configuration: 'w',
    webhook: 'a.example.com',
    resource: '/v1, Resource=configmaps',
    operation: 'CREATE',
  });
  expect(attributesOf(write!)).toMatchObject({ 'rpc.method': 'Txn', key: '/registry/configmaps/n/m' });
  const [post] = childrenOf(call!.spanId);
  expect([post!.name, post!.kind, Number(attributesOf(post!)['http.response.status_code'])]).toEqual(['HTTP POST', 3, 200]);
  expect(webhook.traceparents).toEqual([`00-${hex(request.traceId)}-${hex(post!.spanId)}-01`]);
  const [dialed] = childrenOf(post!.spanId);
  expect([dialed!.name, attributesOf(dialed!).address]).toEqual(['Proxy via http_connect protocol over uds', `localhost:${webhook.port}`]);
});

test('a webhook that fails ends its spans with the error', async () => {
  const exported = await traced(1_000_000, async (server) => {
    const client = clientOf(server, ['system:masters']);
    const webhook = await openWebhook();
    webhook[Symbol.dispose]();
    await client.of(core.Namespace).create({ metadata: { name: 'n' } });
    await client.of(admissionregistration.ValidatingWebhookConfiguration).create(webhook.configuration as never);
    const refused = client.of(core.ConfigMap).create({ metadata: { name: 'm', namespace: 'n' } });
    await expect(refused).rejects.toThrow('connection refused');
  });
  const failed = exported.filter(({ status }) => status?.code === 2).map(({ name }) => name);
  expect(failed.sort()).toEqual(['Call validating webhook', 'Create', 'HTTP POST', 'POST /api/v1/namespaces/{:namespace}/configmaps']);
});

/** The span of a request with a trace of its caller. */
function spanOf(groups: readonly string[], flags: string, samplingRatePerMillion = 0): ExportedSpan | undefined {
  const exported: Parameters<SpanExporter['add']>[0][] = [];
  const tracer = new Tracer({
    exporter: { add: (span) => exported.push(span) },
    samplingRatePerMillion,
    clock: realClock,
    random: seededRandom(1),
  });
  let finish = (_code: number) => {};
  const request = {
    ...{
      method: 'GET',
      path: '/version',
      query: new URLSearchParams(),
      info: { isResource: false },
      remoteAddress: '',
      user: { name: 'a', groups },
    },
    header: (name: string) => (name === 'traceparent' ? `00-${TRACE}-${PARENT}-${flags}` : undefined),
    onFinished: (callback: typeof finish) => {
      finish = callback;
    },
  };
  void traceRequests(tracer)(request as never, () => ({ type: 'raw', code: 200, contentType: '', body: '' }));
  finish(200);
  return exported[0] as ExportedSpan | undefined;
}

test('traces of privileged callers go on; those of others are linked to, and sampled like any', () => {
  const trusted = spanOf(['system:masters'], '01')!;
  expect([hex(trusted.traceId), hex(trusted.parentSpanId), trusted.name]).toEqual([TRACE, PARENT, 'GET']);
  expect(spanOf(['system:masters'], '00', 1_000_000)).toBeUndefined();
  expect(spanOf(['system:authenticated'], '01')).toBeUndefined();
  const other = spanOf(['system:authenticated'], '01', 1_000_000)!;
  expect([hex(other.traceId) === TRACE, other.links.map(({ traceId }) => hex(traceId))]).toEqual([false, [TRACE]]);
});

test('about as many traces are sampled as the rate says', () => {
  let sampled = 0;
  const exporter = { add: () => {} };
  const tracer = new Tracer({ exporter, samplingRatePerMillion: 250_000, clock: realClock, random: seededRandom(1) });
  for (let i = 0; i < 4000; i++) if (tracer.start('x') !== undefined) sampled++;
  expect(Math.abs(sampled - 1000)).toBeLessThan(150);
});

test.each([
  ['samplingRatePerMillion: -1', 'samplingRatePerMillion: Invalid value: -1: sampling rate must be positive'],
  ['samplingRatePerMillion: 1000001', 'sampling rate per million must be less than or equal to one million'],
  ['endpoint: "http://x:1"', 'unsupported scheme: http.  Options are none, dns, unix, or unix-abstract.'],
  ['sampling: 1', 'unknown field'],
])('a configuration with %s is refused', (line, message) => {
  expect(() => parseTracingConfiguration(`apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\n${line}\n`)).toThrow(message);
});
