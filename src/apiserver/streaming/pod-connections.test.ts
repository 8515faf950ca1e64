import https from 'node:https';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { core } from '#api';
import { MetricsRegistry, realClock, seededRandom, silentLogger } from '#base';
import { Client } from '#client';
import { openMemoryStore, type Store } from '#store';
import { LOOPBACK_TLS } from '../admission/webhooks/loopback-certificate.test-data.ts';
import { inProcessTransport } from '../in-process/in-process-transport.ts';
import type { KubeletConnector } from '../kubelet-client/kubelet-connector.ts';
import { type ApiServer, startApiServer } from '../server.ts';
import { WEBSOCKET_FEATURE } from './pod-connections.ts';

/** The protocols that the last request to a kubelet offered. */
let protocolOfKubelet = '';

const kubelets: KubeletConnector = {
  request: () => Promise.reject(new Error('only upgrades are expected')),
  upgrade: async ({ headers }) => {
    protocolOfKubelet = headers?.upgrade ?? '';
    return { code: 200, headers: {}, body: (async function* () {})() };
  },
  isLocal: () => false,
  addressOf: () => '10.1.2.3',
};

const NODES = [
  { name: 'new', declaredFeatures: [WEBSOCKET_FEATURE] },
  { name: 'old', declaredFeatures: undefined },
] as const;

async function createPods(server: ApiServer): Promise<void> {
  const client = new Client(inProcessTransport(server.handle, { name: 'admin', groups: ['system:masters'] }, { clock: realClock }));
  await client.of(core.Namespace).create({ metadata: { name: 'default' } });
  for (const { name, declaredFeatures } of NODES) {
    const node = await client.of(core.Node).create({ metadata: { name } });
    if (declaredFeatures) await client.of(core.Node).updateStatus({ ...node, status: { declaredFeatures } });
    const spec = { nodeName: name, containers: [{ name: 'web', image: 'web' }] };
    await client.of(core.Pod).create({ metadata: { name, namespace: 'default' }, spec });
  }
}

const WEBSOCKET = {
  ...{ connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' },
};
const SPDY = { connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'v4.channel.k8s.io' };

function connect(port: number | undefined, path: string, headers: Readonly<Record<string, string>>): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = https.get({ host: '127.0.0.1', port, path, headers, rejectUnauthorized: false, agent: false }, (response) =>
      response.resume().once('close', () => resolve(response.statusCode ?? 0)),
    );
    sent.once('error', reject);
  });
}

describe.each([
  { gate: true, spoken: { new: 'websocket', old: 'SPDY/3.1' } },
  { gate: false, spoken: { new: 'SPDY/3.1', old: 'SPDY/3.1' } },
])('With ExtendWebSocketsToKubelet=$gate', ({ gate, spoken }) => {
  let store: Store;
  let server: ApiServer;

  beforeAll(async () => {
    store = openMemoryStore({ clock: realClock });
    const listen = { host: '127.0.0.1', port: 0, tls: LOOPBACK_TLS };
    server = startApiServer(
      { version: {}, anonymousAuth: true, systemObjects: false, listen, featureGates: new Map([[WEBSOCKET_FEATURE, gate]]) },
      { store, clock: realClock, random: seededRandom(1), logger: silentLogger, metrics: new MetricsRegistry(), kubelets, admission: [] },
    );
    await server.ready;
    await createPods(server);
  });

  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await store.close();
  });

  const CONNECTIONS = [
    ['exec', 'exec?command=ls&stdout=true', 'v5.channel.k8s.io'],
    ['attach', 'attach?stdout=true', 'v4.channel.k8s.io'],
    ['port-forward', 'portforward?ports=80', 'v4.channel.k8s.io'],
    ['port-forward in a tunnel', 'portforward', 'SPDY/3.1+portforward.k8s.io'],
  ] as const;

  test.each(CONNECTIONS)('a WebSocket of %s reaches the kubelet in what its node declares', async (_, path, protocol) => {
    for (const { name } of NODES) {
      const url = `/api/v1/namespaces/default/pods/${name}/${path}`;
      await connect(server.port, url, { ...WEBSOCKET, 'sec-websocket-protocol': protocol });
      expect([name, protocolOfKubelet]).toEqual([name, spoken[name]]);
    }
  });

  test('SPDY reaches every node as SPDY', async () => {
    for (const { name } of NODES) {
      await connect(server.port, `/api/v1/namespaces/default/pods/${name}/exec?command=ls&stdout=true`, SPDY);
      expect([name, protocolOfKubelet]).toEqual([name, 'SPDY/3.1']);
    }
  });
});
