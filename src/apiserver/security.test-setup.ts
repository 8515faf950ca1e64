import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import https from 'node:https';
import { core, rbac } from '#api';
import {
  createAuthority,
  loadAuthority,
  MetricsRegistry,
  newPrivateKey,
  privateKeyPem,
  realClock,
  type Subject,
  seededRandom,
  signCertificate,
  silentLogger,
} from '#base';
import { Client } from '#client';
import { openMemoryStore } from '#store';
import { parseTokenFile } from './authn/static-tokens.ts';
import { inProcessTransport } from './in-process/in-process-transport.ts';
import { createSecurity } from './security.ts';
import { startApiServer } from './server.ts';

const random = seededRandom('security');
const now = realClock.now();
export const root = createAuthority({ subject: { commonName: 'root' }, notBefore: now - 60_000, notAfter: now + 3_600_000 }, random);
export const strangers = createAuthority(
  { subject: { commonName: 'strangers' }, notBefore: now - 60_000, notAfter: now + 3_600_000 },
  random,
);

export function pairOf(subject: Subject, usage: 'clientAuth' | 'serverAuth', authority = root) {
  const key = newPrivateKey();
  const names = usage === 'serverAuth' ? { ipAddresses: ['127.0.0.1'] } : {};
  const template = {
    subject,
    publicKey: createPublicKey(key),
    notBefore: now - 60_000,
    notAfter: now + 3_600_000,
    extendedKeyUsages: [usage],
    ...names,
  };
  return { cert: signCertificate(template, loadAuthority(authority), random), key: privateKeyPem(key) };
}

export const ISSUER = 'https://kubernetes.default.svc';
export const signing = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
export const api = { apiGroup: 'rbac.authorization.k8s.io' };

export interface Answer {
  readonly code: number | undefined;
  readonly headers: https.RequestOptions['headers'];
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely
  readonly body: any;
}

const REVIEW = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
export const bearer = (token: string, overrides: Record<string, string | string[]> = {}) => ({
  headers: { authorization: `Bearer ${token}`, ...overrides },
});
export type SecureServer = Awaited<ReturnType<typeof startSecureServer>>;

/**
 * A server with certificates, tokens, the node authorizer and RBAC, and an administrator's client; it has the service account `sa` in `ns`.
 */
export async function startSecureServer() {
  const store = openMemoryStore({ clock: realClock });
  const server = startApiServer(
    {
      listen: { host: '127.0.0.1', port: 0, tls: { ...pairOf({ commonName: 'server' }, 'serverAuth'), ca: root.certificate } },
      version: { major: '1', minor: '36', gitVersion: 'v1.36.0' },
      anonymousAuth: true,
      systemObjects: false,
    },
    {
      store,
      clock: realClock,
      random,
      logger: silentLogger,
      metrics: new MetricsRegistry(),
      admission: [],
      security: (context) =>
        createSecurity(
          {
            serviceAccounts: { issuer: ISSUER, keys: { signing } },
            staticTokens: parseTokenFile('admintoken,admin,admin-uid,"system:masters"\nalicetoken,alice,alice-uid,"devs"'),
            bootstrapTokens: true,
            authorizationModes: ['Node', 'RBAC'],
            nodeRules: [],
          },
          context,
        ),
    },
  );
  await server.ready;
  function clientFor(name: string, groups: readonly string[] = ['system:authenticated']): Client {
    return new Client(inProcessTransport(server.handle, { name, groups }, { clock: realClock }), { fieldManager: 'test' });
  }
  const admin = clientFor('admin', ['system:masters', 'system:authenticated']);
  await admin.of(core.Namespace).create({ metadata: { name: 'ns' } });
  await admin.of(core.ServiceAccount).create({ metadata: { name: 'sa', namespace: 'ns' } });
  function send(method: string, path: string, options: https.RequestOptions & { body?: object } = {}): Promise<Answer> {
    const { body, headers, ...rest } = options;
    return new Promise((resolve, reject) => {
      const content = { ...headers, ...(body && { 'content-type': 'application/json' }) };
      const request = https.request(
        { host: '127.0.0.1', port: server.port, method, path, ca: root.certificate, agent: false, headers: content, ...rest },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('end', () => {
            const text = Buffer.concat(chunks).toString('utf8');
            const isJson = response.headers['content-type']?.includes('json');
            resolve({ code: response.statusCode, headers: response.headers, body: isJson ? JSON.parse(text) : text });
          });
        },
      );
      request.on('error', reject);
      request.end(body && JSON.stringify(body));
    });
  }

  const whoami = async (options: https.RequestOptions) => {
    const { code, body } = await send('POST', REVIEW, { ...options, body: {} });
    return code === 201 ? body.status.userInfo : code;
  };

  async function requestToken(account = 'sa', spec: object = {}): Promise<string> {
    const path = `/api/v1/namespaces/ns/serviceaccounts/${account}/token`;
    const { code, body } = await send('POST', path, { ...bearer('admintoken'), body: { spec } });
    if (code !== 201) throw new Error(JSON.stringify(body));
    return body.status.token;
  }

  async function grant(name: string, rules: readonly rbac.PolicyRule[], subject: rbac.Subject): Promise<void> {
    await admin.of(rbac.ClusterRole).create({ metadata: { name }, rules });
    await admin
      .of(rbac.ClusterRoleBinding)
      .create({ metadata: { name }, roleRef: { ...api, kind: 'ClusterRole', name }, subjects: [subject] });
  }
  return {
    ...{ server, admin, clientFor, send, whoami, requestToken, grant },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await store.close();
    },
  };
}

export const everybody = { ...api, kind: 'Group', name: 'system:authenticated' };
