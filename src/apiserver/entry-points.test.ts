import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { apiregistration, core } from '#api';
import { MetricsRegistry, realClock, seededRandom, silentLogger } from '#base';
import { Client } from '#client';
import { StatusError } from '#machinery';
import { openMemoryStore } from '#store';
import type { AdmissionPlugin } from './admission/admission.ts';
import { LOOPBACK_TLS } from './admission/webhooks/loopback-certificate.test-data.ts';
import { parseAuditPolicy } from './audit/audit-policy.ts';
import { inProcessTransport } from './in-process/in-process-transport.ts';
import type { KubeletConnector, KubeletResponse } from './kubelet-client/kubelet-connector.ts';
import { type ApiServer, startApiServer } from './server.ts';

interface EntryPoint {
  readonly name: string;
  readonly path: string;
  readonly admission: boolean;
  readonly fairness: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Requests that the server passes on, and what checks each has to pass besides authentication, authorization and audit. */
const POD = '/api/v1/namespaces/default/pods/web';
const WEBSOCKET = {
  ...{ connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' },
  'sec-websocket-protocol': 'v5.channel.k8s.io',
};
const SPDY = { connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'v5.channel.k8s.io' };
const TUNNEL = { ...WEBSOCKET, 'sec-websocket-protocol': 'SPDY/3.1+portforward.k8s.io' };
const PORTS = { ...WEBSOCKET, 'sec-websocket-protocol': 'v4.channel.k8s.io' };
const SPDY_PORTS = { ...SPDY, 'x-stream-protocol-version': 'portforward.k8s.io' };
const ENTRY_POINTS: readonly EntryPoint[] = [
  { name: 'exec', path: `${POD}/exec?command=ls&stdout=true`, admission: true, fairness: false },
  { name: 'exec over WebSocket', path: `${POD}/exec?command=w&stdout=true`, headers: WEBSOCKET, admission: true, fairness: false },
  { name: 'exec over SPDY', path: `${POD}/exec?command=s&stdout=true`, headers: SPDY, admission: true, fairness: false },
  { name: 'port-forward in a tunnel', path: `${POD}/portforward?ports=81`, headers: TUNNEL, admission: true, fairness: false },
  { name: 'attach over WebSocket', path: `${POD}/attach?stdin=true`, headers: WEBSOCKET, admission: true, fairness: false },
  { name: 'attach over SPDY', path: `${POD}/attach?stdin=1`, headers: SPDY, admission: true, fairness: false },
  { name: 'port-forward over WebSocket', path: `${POD}/portforward?ports=82`, headers: PORTS, admission: true, fairness: false },
  { name: 'port-forward over SPDY', path: `${POD}/portforward?ports=83`, headers: SPDY_PORTS, admission: true, fairness: false },
  {
    ...{ name: 'an upgrade by the proxy of services', path: '/api/v1/namespaces/default/services/web/proxy/ws' },
    ...{ headers: WEBSOCKET, admission: true, fairness: false },
  },
  { name: 'an upgrade by the proxy of pods', path: `${POD}/proxy/ws`, headers: WEBSOCKET, admission: true, fairness: false },
  { name: 'an upgrade by the proxy of nodes', path: '/api/v1/nodes/node/proxy/ws', headers: WEBSOCKET, admission: true, fairness: false },
  { name: 'an upgrade by an aggregated API', path: '/apis/fruit.example.com/v1/ws', headers: WEBSOCKET, admission: false, fairness: true },
  { name: 'attach', path: `${POD}/attach?stdout=true`, admission: true, fairness: false },
  { name: 'port-forward', path: `${POD}/portforward?ports=80`, admission: true, fairness: false },
  { name: 'the proxy of pods', path: `${POD}/proxy/x`, admission: true, fairness: false },
  { name: 'the proxy of services', path: '/api/v1/namespaces/default/services/web/proxy/x', admission: true, fairness: false },
  { name: 'the proxy of nodes', path: '/api/v1/nodes/node/proxy/x', admission: true, fairness: false },
  { name: 'logs that are followed', path: `${POD}/log?follow=true`, admission: false, fairness: false },
  { name: 'logs', path: `${POD}/log`, admission: false, fairness: false },
  { name: 'an aggregated API', path: '/apis/fruit.example.com/v1/apples', admission: false, fairness: true },
  { name: 'the discovery of an aggregated API', path: '/apis/fruit.example.com/v1', admission: false, fairness: true },
];

const directory = mkdtempSync(join(tmpdir(), 'sampan-entry-points-'));
const auditLog = join(directory, 'audit.log');
const store = openMemoryStore({ clock: realClock });
let server: ApiServer;
let reached = 0;

function answer(): KubeletResponse {
  reached++;
  return { code: 200, headers: {}, body: (async function* () {})() };
}

const kubelets: KubeletConnector = {
  request: async () => answer(),
  upgrade: async () => answer(),
  isLocal: () => true,
  addressOf: () => '10.1.2.3',
  dialPod: () => async () => {
    reached++;
    throw new Error('there is no pod');
  },
};

const admission: AdmissionPlugin = {
  name: 'gatekeeper',
  operations: ['CONNECT'],
  validate: ({ user, resource }) => {
    if (user.name === 'not-admitted') throw StatusError.forbidden(resource, '', 'not admitted');
  },
};

const USERS = { allowed: 'allowed', forbidden: 'forbidden', notAdmitted: 'not-admitted' } as const;

beforeAll(async () => {
  const policy = parseAuditPolicy('apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n', 'policy');
  const file = { path: auditLog, maxBytes: 0, maxAgeMs: 0, maxBackups: 0, compress: false };
  const batch = { bufferSize: 1, maxSize: 1, maxWaitMs: 0, throttleEnable: false, throttleQps: 1, throttleBurst: 1 } as never;
  server = startApiServer(
    {
      ...{ version: {}, anonymousAuth: false, systemObjects: false, listen: { host: '127.0.0.1', port: 0, tls: LOOPBACK_TLS } },
      audit: { policy, log: { mode: 'blocking', batch, file, format: 'json' } },
    },
    {
      ...{ store, clock: realClock, random: seededRandom(1), logger: silentLogger, metrics: new MetricsRegistry(), kubelets },
      admission: [admission],
      authenticators: [
        {
          authenticate: (request) => {
            const name = request.header('x-user');
            return name === undefined ? undefined : { name, groups: ['system:authenticated'] };
          },
        },
      ],
      authorizer: {
        authorize: ({ user }) => ({ verdict: user.name === USERS.forbidden ? 'deny' : 'allow', reason: '' }),
        rulesFor: () => ({ resourceRules: [], nonResourceRules: [], incomplete: false }),
      },
    },
  );
  await server.ready;
  await furnish(clientOf(USERS.allowed));
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await store.close();
  rmSync(directory, { recursive: true });
});

function clientOf(name: string): Client {
  return new Client(inProcessTransport(server.handle, { name, groups: ['system:authenticated'] }, { clock: realClock }));
}

async function furnish(client: Client): Promise<void> {
  const metadata = { name: 'web', namespace: 'default' };
  await client.of(core.Namespace).create({ metadata: { name: 'default' } });
  await client.of(core.Node).create({ metadata: { name: 'node' } });
  const pod = await client.of(core.Pod).create({ metadata, spec: { nodeName: 'node', containers: [{ name: 'web', image: 'web' }] } });
  await client.of(core.Pod).updateStatus({ ...pod, status: { phase: 'Running', podIP: '10.1.2.3', podIPs: [{ ip: '10.1.2.3' }] } });
  await client.of(core.Service).create({ metadata, spec: { clusterIP: 'None', ports: [{ port: 80 }] } });
  const targetRef = { kind: 'Pod', namespace: 'default', name: 'web' };
  const subsets = [{ addresses: [{ ip: '10.1.2.3', targetRef }], ports: [{ port: 80 }] }];
  await client.of(core.Endpoints).create({ metadata, subsets });
  const service = { name: 'fruit', namespace: 'default' };
  const spec = {
    group: 'fruit.example.com',
    version: 'v1',
    groupPriorityMinimum: 1,
    versionPriority: 1,
    insecureSkipTLSVerify: true,
    service,
  };
  server.aggregation.mount({ ...service, port: 443 }, ({ user }) => {
    // The server requests discovery and OpenAPI itself at any time: only the test's requests count.
    if (user !== undefined && Object.values<string>(USERS).includes(user.name)) reached++;
    return {
      type: 'plain',
      code: 200,
      object: { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: 'fruit.example.com/v1', resources: [] },
    };
  });
  await client.of(apiregistration.APIService).create({ metadata: { name: 'v1.fruit.example.com' }, spec });
  for await (const event of client.of(apiregistration.APIService).watch({ sendInitialEvents: true })) {
    if (event.type !== 'BOOKMARK' && event.object.status?.conditions?.[0]?.status === 'True') return;
  }
}

interface Answer {
  readonly code: number;
  readonly isFair: boolean;
  readonly reached: number;
}

async function request(path: string, user?: string, upgrade: EntryPoint['headers'] = {}): Promise<Answer> {
  const before = reached;
  const { code, isFair } = await new Promise<Omit<Answer, 'reached'>>((resolve, reject) => {
    const headers = { ...upgrade, ...(user !== undefined && { 'x-user': user }) };
    https
      .get({ host: '127.0.0.1', port: server.port, path, headers, rejectUnauthorized: false, agent: false }, (response) => {
        const isFair = response.headers['x-kubernetes-pf-flowschema-uid'] !== undefined;
        response.resume().once('close', () => resolve({ code: response.statusCode ?? 0, isFair }));
      })
      .once('error', reject);
  });
  return { code, isFair, reached: reached - before };
}

describe.each(ENTRY_POINTS)('$name', ({ path, admission: isAdmitted, fairness, headers }) => {
  test('rejects requests without credentials', async () => {
    expect(await request(path, undefined, headers)).toMatchObject({ code: 401, reached: 0 });
  });

  test('rejects users without permission', async () => {
    expect(await request(path, USERS.forbidden, headers)).toMatchObject({ code: 403, reached: 0 });
  });

  test(isAdmitted ? 'rejects requests that admission denies' : 'does not pass admission', async () => {
    const { code, reached: through } = await request(path, USERS.notAdmitted, headers);
    expect([code === 403, through > 0]).toEqual([isAdmitted, !isAdmitted]);
  });

  test('serves users with permission, through flow control where it applies', async () => {
    const { isFair, reached: through } = await request(path, USERS.allowed, headers);
    expect([through > 0, isFair]).toEqual([true, fairness]);
  });

  test('records every request in the audit log', async () => {
    await request(path, undefined, headers);
    for (const user of Object.values(USERS)) await request(path, user, headers);
    await checkAudited(path);
  });
});

/** All users are in the log, and so are requests without credentials. Events are written after the response. */
async function checkAudited(path: string): Promise<void> {
  await expect.poll(() => auditedUsers(path)).toEqual(expect.arrayContaining(['401', ...Object.values(USERS)]));
}

function auditedUsers(path: string): readonly string[] {
  return readFileSync(auditLog, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { requestURI: string; user: { username?: string }; responseStatus?: { code: number } })
    .filter(({ requestURI }) => requestURI === path)
    .map(({ user, responseStatus }) => (responseStatus?.code === 401 ? '401' : (user.username ?? '')));
}

/** Pages of the server itself. */
const PAGES = [
  ...['/api', '/apis', '/apis/fruit.example.com', '/version', '/openapi/v2', '/openapi/v3', '/openapi/v3/api/v1'],
  ...['/healthz', '/livez', '/readyz', '/metrics', '/metrics/slis', '/statusz', '/flagz', '/configz'],
  ...['/debug/api_priority_and_fairness/dump_priority_levels', '/debug/api_priority_and_fairness/dump_requests'],
  ...['/.well-known/openid-configuration', '/openid/v1/jwks', '/no/such/page'],
];

test.each(PAGES)('%s is authorized, goes through flow control and is audited', async (path) => {
  expect(await request(path)).toMatchObject({ code: 401 });
  expect(await request(path, USERS.forbidden)).toMatchObject({ code: 403, isFair: true });
  const { code, isFair } = await request(path, USERS.allowed);
  expect([code === 200 || code === 404, isFair]).toEqual([true, true]);
  await request(path, USERS.notAdmitted);
  await checkAudited(path);
});

test('in-process requests are authorized too', async () => {
  for (const { path } of ENTRY_POINTS) {
    const before = reached;
    const { transport } = clientOf(USERS.forbidden);
    await expect(
      transport.request({ method: 'GET', path: path.split('?')[0]!, query: new URLSearchParams(path.split('?')[1]) }),
    ).rejects.toThrow('forbidden');
    expect([path, reached]).toEqual([path, before]);
  }
});
