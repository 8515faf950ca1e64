import { once } from 'node:events';
import https from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { admissionregistration, core } from '#api';
import {
  type Dialer,
  GrpcClient,
  GrpcServer,
  MetricsRegistry,
  message,
  realClock,
  seededRandom,
  silentLogger,
  targetText,
  unaryMethod,
} from '#base';
import { Client } from '#client';
import { openMemoryStore } from '#store';
import { LOOPBACK_TLS } from '../admission/webhooks/loopback-certificate.test-data.ts';
import { inProcessTransport } from '../in-process/in-process-transport.ts';
import { HttpsKubeletConnector } from '../kubelet-client/https-kubelet-connector.ts';
import { type ApiServer, startApiServer } from '../server.ts';

let dialed: string[] = [];
beforeEach(() => {
  dialed = [];
});

/** Connects to loopback instead of the requested host. */
const dialerOf =
  (network: string): Dialer =>
  async (target) => {
    dialed.push(`${network} ${targetText(target)}`);
    const socket: Duplex = connect(target.port === 10_250 || target.port === 443 ? port() : target.port, '127.0.0.1');
    await once(socket, 'connect');
    return socket;
  };

/** Kubelet and webhook in one. */
const backend = https.createServer({ ...LOOPBACK_TLS }, (request, response) => {
  request.resume().on('end', () => {
    response.setHeader('content-type', 'application/json');
    response.end(
      request.method === 'GET' ? 'line\n' : JSON.stringify({ kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', response: {} }),
    );
  });
});
const port = () => (backend.address() as AddressInfo).port;
const store = openMemoryStore({ clock: realClock });
const kubelets = new HttpsKubeletConnector({ dial: dialerOf('cluster') });
let server: ApiServer;
let client: Client;

beforeAll(async () => {
  backend.listen(0, '127.0.0.1');
  await once(backend, 'listening');
  server = startApiServer(
    { version: {}, anonymousAuth: false, systemObjects: false },
    {
      ...{ store, clock: realClock, random: seededRandom(1), logger: silentLogger, metrics: new MetricsRegistry(), kubelets },
      egress: { cluster: dialerOf('cluster'), controlplane: dialerOf('controlplane') },
    },
  );
  await server.ready;
  client = new Client(inProcessTransport(server.handle, { name: 'a', groups: ['system:masters'] }, { clock: realClock }));
  await client.of(core.Namespace).create({ metadata: { name: 'default' } });
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  kubelets[Symbol.dispose]();
  backend.closeAllConnections();
  backend.close();
  await store.close();
});

test('kubelets are reached by the network of the cluster', async () => {
  const node = { metadata: { name: 'n' }, status: { addresses: [{ type: 'InternalIP', address: '10.1.1.1' }] } };
  const { code, body } = await kubelets.request({ node, method: 'GET', path: '/containerLogs', query: new URLSearchParams() });
  let text = '';
  for await (const chunk of body) text += Buffer.from(chunk).toString();
  expect([code, text, dialed]).toEqual([200, 'line\n', ['cluster 10.1.1.1:10250']]);
});

async function callWebhook(clientConfig: object): Promise<string> {
  const webhooks = client.of(admissionregistration.ValidatingWebhookConfiguration);
  const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] };
  const caBundle = Buffer.from(LOOPBACK_TLS.cert).toString('base64');
  const webhook = {
    name: 'a.example.com',
    clientConfig: { ...clientConfig, caBundle },
    rules: [rule],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  };
  await webhooks.create({ metadata: { name: 'w' }, webhooks: [webhook] } as never);
  const answer = await client
    .of(core.ConfigMap)
    .create({ metadata: { name: 'm', namespace: 'default' } })
    .catch((error: Error) => error);
  await webhooks.delete({ name: 'w' });
  return answer instanceof Error ? answer.message : 'created';
}

test('webhooks of services are reached by the network of the cluster', async () => {
  const service = { name: 's', namespace: 'default' };
  await client.of(core.Service).create({ metadata: service, spec: { type: 'ExternalName', externalName: 'hooks.example' } });
  // It is reached, but its certificate is not for the name of the service.
  expect(await callWebhook({ service })).toContain('not s.default.svc');
  expect(dialed).toEqual(['cluster hooks.example:443']);
});

test('webhooks by URL are reached by the network of the control plane', async () => {
  expect(await callWebhook({ url: `https://localhost:${port()}/review` })).not.toContain('failed to call webhook: Post');
  expect(dialed).toEqual([`controlplane localhost:${port()}`]);
});

test('gRPC, as to etcd, goes by a dialer', async () => {
  const empty = message({});
  const method = { name: 'test.Service/Ping', request: empty, response: empty };
  await using grpc = await GrpcServer.start({ endpoint: 'http://127.0.0.1:0', methods: [unaryMethod(method, () => ({}))] });
  const endpoint = `http://etcd.invalid:${new URL(grpc.endpoint).port}`;
  using etcd = new GrpcClient({ endpoint, clock: realClock, dial: dialerOf('etcd') });
  expect(await etcd.unary(method, {}, { timeoutMs: 10_000 })).toEqual({});
  expect(dialed).toEqual([`etcd ${new URL(endpoint).host}`]);
});
