import { request } from 'node:https';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { realClock, silentLogger } from '#base';
import { Client, type Transport } from '#client';
import { withDefaults } from '../configuration/defaults.ts';
import { AUTHORITY, certificateFor, OTHER_AUTHORITY } from './certificates.test-data.ts';
import { textResponse } from './kubelet-call.ts';
import { type KubeletServer, startKubeletServer } from './kubelet-server.ts';
import { accessPolicy } from './node-servers.ts';

interface Endpoint {
  readonly method: string;
  readonly path: string;
  /** What callers need a right to: any one of these subresources of the node. */
  readonly verb: string;
  readonly subresources: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
}

const WEBSOCKET = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
};
const SPDY = { connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'v4.channel.k8s.io' };
const get = (path: string, ...subresources: string[]): Endpoint => ({ method: 'GET', path, verb: 'get', subresources });
const post = (path: string, ...subresources: string[]): Endpoint => ({ method: 'POST', path, verb: 'create', subresources });

/** Upstream's attributes of requests to a kubelet. */
const ENDPOINTS: readonly Endpoint[] = [
  get('/healthz', 'healthz', 'proxy'),
  get('/healthz/syncloop', 'healthz', 'proxy'),
  get('/pods', 'pods', 'proxy'),
  get('/pods/', 'pods', 'proxy'),
  get('/runningpods/', 'pods', 'proxy'),
  get('/configz', 'configz', 'proxy'),
  get('/flagz', 'configz'),
  get('/statusz', 'statusz'),
  get('/metrics', 'metrics'),
  get('/metrics/cadvisor', 'metrics'),
  get('/metrics/resource', 'metrics'),
  get('/stats/summary', 'stats'),
  get('/logs/', 'log'),
  get('/logs/syslog', 'log'),
  get('/containerLogs/default/p/c', 'proxy'),
  get('/debug/pprof/profile', 'proxy'),
  get('/podsecret', 'proxy'),
  get('/no/such/page', 'proxy'),
  get('/', 'proxy'),
  // No spelling of a path gets around the permission that it requires.
  get('/metrics/../exec/default/p/c?command=ls', 'proxy'),
  get('/metrics/%2e%2e/exec/default/p/c?command=ls', 'proxy'),
  get('/%65xec/default/p/c?command=ls', 'proxy'),
  get('//metrics/exec/default/p/c?command=ls', 'proxy'),
  post('/checkpoint/default/p/c', 'checkpoint'),
  post('/run/default/p/c?cmd=ls', 'proxy'),
  post('/exec/default/p/c?command=ls', 'proxy'),
  { ...get('/exec/default/p/c?command=ls', 'proxy'), headers: WEBSOCKET },
  { ...post('/exec/default/p/c?command=ls', 'proxy'), headers: SPDY },
  { ...get('/attach/default/p/c', 'proxy'), headers: WEBSOCKET },
  { ...post('/attach/default/p/c', 'proxy'), headers: SPDY },
  { ...get('/portForward/default/p', 'proxy'), headers: WEBSOCKET },
  { ...post('/portForward/default/p', 'proxy'), headers: SPDY },
  { ...get('/metrics', 'metrics'), headers: WEBSOCKET },
  { method: 'PUT', path: '/pods', verb: 'update', subresources: ['pods', 'proxy'] },
  { method: 'PATCH', path: '/stats/summary', verb: 'patch', subresources: ['stats'] },
  { method: 'DELETE', path: '/logs/', verb: 'delete', subresources: ['log'] },
  { method: 'OPTIONS', path: '/pods', verb: '', subresources: ['pods', 'proxy'] },
];

interface Review {
  readonly spec: { readonly token?: string; readonly user?: string; readonly resourceAttributes?: Record<string, string> };
}

const TOKENS: ReadonlyMap<string, string> = new Map([
  ['token-of-allowed', 'allowed'],
  ['token-of-forbidden', 'forbidden'],
]);
let reviewed: Record<string, string>[] = [];
let reached = 0;

/** An API server that knows two tokens, one of whose users has all rights. */
const reviewer = {
  isLocal: true,
  request: async ({ body }: { body?: unknown }) => {
    const { token, user, resourceAttributes } = (body as Review).spec;
    if (token !== undefined) {
      const username = TOKENS.get(token);
      return { kind: 'TokenReview', metadata: { name: '' }, status: { authenticated: username !== undefined, user: { username } } };
    }
    reviewed.push(resourceAttributes ?? {});
    return { kind: 'SubjectAccessReview', metadata: { name: '' }, status: { allowed: user === 'allowed' } };
  },
} as unknown as Transport;

let server: KubeletServer;
beforeAll(async () => {
  // Decisions are not cached, so that every request is authorized.
  const authorization = { webhook: { cacheAuthorizedTTL: '1ns', cacheUnauthorizedTTL: '1ns' } };
  const access = accessPolicy(withDefaults({ authorization } as never));
  server = startKubeletServer(
    { nodeName: 'n1', host: '127.0.0.1', port: 0, access, tls: { ...certificateFor('node'), clientCa: AUTHORITY.certificate } },
    {
      ...{ client: new Client(reviewer), clock: realClock, logger: silentLogger },
      handle: async () => {
        reached++;
        return textResponse(200, 'reached');
      },
    },
  );
  await server.ready;
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(() => {
  reviewed = [];
  reached = 0;
});

interface Credentials {
  readonly cert?: string;
  readonly key?: string;
  readonly token?: string;
}

function call({ method, path, headers }: Endpoint, { token, ...tls }: Credentials = {}): Promise<{ code: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sentHeaders = { ...headers, ...(token && { authorization: `Bearer ${token}` }) };
    const options = { host: '127.0.0.1', port: server.port, method, path, headers: sentHeaders, agent: false, ca: AUTHORITY.certificate };
    const sent = request({ ...options, ...tls }, async (response) => {
      let text = '';
      for await (const chunk of response) text += chunk;
      resolve({ code: response.statusCode ?? 0, text });
    });
    sent.on('error', reject);
    sent.end();
  });
}

const name = ({ method, path, headers }: Endpoint) => `${method} ${path}${headers ? ` over ${headers.upgrade}` : ''}`;
const allowed = certificateFor('allowed');
const forbidden = certificateFor('forbidden');
const foreign = certificateFor('allowed', { authority: OTHER_AUTHORITY });

describe.each(ENDPOINTS.map((endpoint) => ({ name: name(endpoint), endpoint })))('$name', ({ endpoint }) => {
  test.each([
    ['nobody', {}],
    ['a certificate of another authority', foreign],
    ['a token that nobody knows', { token: 'unknown' }],
  ])('rejects %s', async (_, credentials) => {
    expect([await call(endpoint, credentials), reached, reviewed]).toEqual([{ code: 401, text: 'Unauthorized' }, 0, []]);
  });

  test.each([
    ['a certificate', forbidden],
    ['a token', { token: 'token-of-forbidden' }],
  ])('rejects a caller without permission, by %s', async (_, credentials) => {
    const { verb, subresources } = endpoint;
    const text = `Forbidden (user=forbidden, verb=${verb}, resource=nodes, subresource(s)=[${subresources.join(' ')}])\n`;
    expect([await call(endpoint, credentials), reached]).toEqual([{ code: 403, text }, 0]);
    expect(reviewed).toEqual(subresources.map((subresource) => ({ verb, version: 'v1', resource: 'nodes', subresource, name: 'n1' })));
  });

  test.each([
    ['a certificate', allowed],
    ['a token', { token: 'token-of-allowed' }],
  ])('serves a caller with permission, by %s', async (_, credentials) => {
    expect([(await call(endpoint, credentials)).text, reached]).toEqual(['reached', 1]);
  });
});
