import { createPublicKey } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import {
  createAuthority,
  type KeyPair,
  loadAuthority,
  newPrivateKey,
  privateKeyPem,
  realClock,
  seededRandom,
  signCertificate,
} from '#base';

const DAY_MS = 24 * 3_600_000;
const RANDOM = seededRandom(7);

export function newAuthority(commonName: string): KeyPair {
  const now = realClock.now();
  return createAuthority({ subject: { commonName }, notBefore: now - DAY_MS, notAfter: now + DAY_MS }, RANDOM);
}

interface Wish {
  readonly commonName: string;
  readonly organizations?: readonly string[];
  readonly purpose: 'clientAuth' | 'serverAuth';
  readonly dnsNames?: readonly string[];
}

export function newCertificate({ commonName, organizations = [], purpose, dnsNames = [] }: Wish, authority: KeyPair): KeyPair {
  const key = newPrivateKey();
  const now = realClock.now();
  const certificate = signCertificate(
    {
      subject: { commonName, organizations: [...organizations] },
      dnsNames: [...dnsNames],
      publicKey: createPublicKey(key),
      notBefore: now - DAY_MS,
      notAfter: now + DAY_MS,
      keyUsages: ['digitalSignature'],
      extendedKeyUsages: [purpose],
    },
    loadAuthority(authority),
    RANDOM,
  );
  return { certificate, key: privateKeyPem(key) };
}

export type Answerer = (request: IncomingMessage, response: ServerResponse) => void;

export const GROUP = 'fruit.example.com';
const API = `/apis/${GROUP}/v1`;
const APPLE = { kind: 'Apple', apiVersion: `${GROUP}/v1`, metadata: { name: 'red', namespace: 'default' } };
const RESOURCES = [
  { name: 'apples', singularName: 'apple', namespaced: true, kind: 'Apple', verbs: ['get', 'list', 'watch'], shortNames: ['ap'] },
  { name: 'apples/peel', singularName: '', namespaced: true, kind: 'Peel', verbs: ['get'] },
];
const AGGREGATED_TYPE = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const REF = { $ref: '#/definitions/com.example.fruit.v1.Apple' };
const V2 = {
  swagger: '2.0',
  info: { title: 'fruit', version: '1' },
  paths: {
    [`${API}/`]: { get: { responses: { 200: { description: 'OK' } } } },
    [`${API}/namespaces/{namespace}/apples/{name}`]: {
      get: { produces: ['application/json'], responses: { 200: { description: 'OK', schema: REF } } },
    },
    '/api/v1/pods': { get: { responses: { 200: { description: 'a lie' } } } },
  },
  definitions: {
    'com.example.fruit.v1.Apple': {
      description: 'An apple, which keeps the doctor away.',
      type: 'object',
      properties: { color: { type: 'string', description: 'Its color.' } },
      'x-kubernetes-group-version-kind': [{ group: GROUP, version: 'v1', kind: 'Apple' }],
    },
    Unused: { type: 'object' },
  },
};

const APPLE_KIND = { group: GROUP, version: 'v1', kind: 'Apple' };
const V3 = {
  openapi: '3.0.0',
  info: V2.info,
  paths: Object.fromEntries(
    [`${API}/apples`, `${API}/namespaces/{namespace}/apples`].map((path) => [
      path,
      { get: { 'x-kubernetes-group-version-kind': APPLE_KIND, responses: {} } },
    ]),
  ),
  components: { schemas: { 'com.example.fruit.v1.Apple': V2.definitions['com.example.fruit.v1.Apple'] } },
};

function json(response: ServerResponse, body: unknown, headers: Record<string, string> = {}, code = 200): void {
  response.writeHead(code, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

/** Options say in which ways it differs from a server of today. */
export interface ExtensionOptions {
  readonly hasAggregatedDiscovery?: boolean;
  readonly hasV3?: boolean;
  /** PEM of the front proxies' CA that it trusts. Default: its own. */
  readonly frontProxyAuthority?: string;
  /** Paths with another response. */
  readonly own?: Readonly<Record<string, Answerer>>;
}

export interface ExtensionServer extends AsyncDisposable {
  readonly port: number;
  readonly authority: KeyPair;
  readonly frontProxy: KeyPair;
  /** The received requests, with the user that the front proxy sent. */
  readonly requests: {
    readonly path: string;
    readonly user: string;
    readonly groups: readonly string[];
    readonly headers: IncomingMessage['headers'];
  }[];
  /** Answers otherwise from now on. */
  answer(path: string, answerer: Answerer): void;
}

/** An aggregated API server: it only trusts front proxies with a certificate. */
export async function extensionServer({
  hasAggregatedDiscovery = true,
  hasV3 = true,
  own = {},
  frontProxyAuthority: configuredAuthority,
}: ExtensionOptions = {}): Promise<ExtensionServer> {
  const [authority, frontProxyAuthority] = [newAuthority('extension-ca'), newAuthority('front-proxy-ca')];
  const servingPair = newCertificate({ commonName: 'fruit', purpose: 'serverAuth', dnsNames: ['fruit.default.svc'] }, authority);
  const frontProxy = newCertificate({ commonName: 'front-proxy-client', purpose: 'clientAuth' }, frontProxyAuthority);
  const requests: ExtensionServer['requests'] = [];
  const routes = new Map<string, Answerer>(Object.entries(own));
  const version = { groupVersion: `${GROUP}/v1`, version: 'v1' };
  const kind = (name: string) => ({ group: GROUP, version: 'v1', kind: name });
  const apis: Answerer = (_, response) => {
    if (!hasAggregatedDiscovery) return json(response, { kind: 'APIGroupList', apiVersion: 'v1', groups: [] });
    const peel = { subresource: 'peel', responseKind: kind('Peel'), verbs: ['get'] };
    const apples = {
      resource: 'apples',
      responseKind: kind('Apple'),
      scope: 'Namespaced',
      singularResource: 'apple',
      verbs: ['get', 'list', 'watch'],
      shortNames: ['ap'],
      subresources: [peel],
    };
    const items = [{ metadata: { name: GROUP }, versions: [{ version: 'v1', resources: [apples] }] }];
    json(
      response,
      { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', metadata: {}, items },
      { 'content-type': AGGREGATED_TYPE },
    );
  };
  const v3: Answerer = (_, response) =>
    hasV3
      ? json(response, {
          paths: {
            [API.slice(1)]: { serverRelativeURL: `/openapi/v3${API}?hash=A` },
            'api/v1': { serverRelativeURL: 'https://evil.example.com/' },
          },
        })
      : json(response, {}, {}, 404);
  const answers: Record<string, Answerer> = {
    '/apis': apis,
    [`/apis/${GROUP}`]: (_, response) => json(response, { kind: 'APIGroup', name: GROUP, versions: [version], preferredVersion: version }),
    [API]: (_, response) =>
      json(response, { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: version.groupVersion, resources: RESOURCES }),
    '/openapi/v2': (_, response) => json(response, V2, { etag: '"one"' }),
    '/openapi/v3': v3,
    [`/openapi/v3${API}`]: (_, response) => json(response, V3),
    [`${API}/namespaces/default/apples/red`]: (_, response) => json(response, APPLE),
    [`${API}/namespaces/default/apples`]: (request, response) => {
      const isWatch = (request.url ?? '').includes('watch=');
      if (!isWatch)
        return json(response, { kind: 'AppleList', apiVersion: `${GROUP}/v1`, metadata: { resourceVersion: '1' }, items: [APPLE] });
      response.writeHead(200, { 'content-type': 'application/json' }).write(`${JSON.stringify({ type: 'ADDED', object: APPLE })}\n`);
    },
  };
  const server = https.createServer(
    {
      cert: servingPair.certificate,
      key: servingPair.key,
      ca: configuredAuthority ?? frontProxyAuthority.certificate,
      requestCert: true,
      rejectUnauthorized: false,
    },
    (request, response) => {
      const path = (request.url ?? '').split('?', 1)[0]!;
      const socket = request.socket as TLSSocket;
      if (!socket.authorized || socket.getPeerCertificate().subject.CN !== 'front-proxy-client') return json(response, {}, {}, 401);
      requests.push({
        path,
        user: String(request.headers['x-remote-user']),
        groups: request.headersDistinct['x-remote-group'] ?? [],
        headers: request.headers,
      });
      const answerer = routes.get(path) ?? answers[path];
      if (answerer === undefined)
        json(
          response,
          { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'NotFound', code: 404, message: 'no such fruit' },
          {},
          404,
        );
      else answerer(request, response);
    },
  );
  server.on('upgrade', (request, socket) => {
    requests.push({ path: request.url ?? '', user: String(request.headers['x-remote-user']), groups: [], headers: request.headers });
    socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: echo\r\n\r\n');
    socket.pipe(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    authority,
    frontProxy,
    requests,
    answer: (path, answerer) => void routes.set(path, answerer),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
