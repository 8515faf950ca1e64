import { once } from 'node:events';
import https from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { apiregistration, core } from '#api';
import { type Dialer, MetricsRegistry, realClock, seededRandom, silentLogger, targetText } from '#base';
import { Client } from '#client';
import { openMemoryStore } from '#store';
import { extensionServer, GROUP } from '../aggregation/extension-server.test-data.ts';
import { parseAuditPolicy } from '../audit/audit-policy.ts';
import { parseAuthenticationConfiguration } from '../authn/oidc/authentication-configuration.ts';
import { loopbackPki, TestIssuer } from '../authn/oidc/issuer.test-server.ts';
import { JwtAuthenticator } from '../authn/oidc/jwt-authenticator.ts';
import { inProcessTransport } from '../in-process/in-process-transport.ts';
import { HttpsKubeletConnector } from '../kubelet-client/https-kubelet-connector.ts';
import { type ApiServerConfig, type ApiServerDeps, startApiServer } from '../server.ts';

let dialed: Set<string>;
beforeEach(() => {
  dialed = new Set();
});

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

/** Connects to loopback instead of the requested host. */
const dialerOf =
  (network: string): Dialer =>
  async (target) => {
    dialed.add(`${network} ${targetText(target)}`);
    const socket = connect(target.port, '127.0.0.1');
    await once(socket, 'connect');
    return socket;
  };

const egress = { cluster: dialerOf('cluster'), controlplane: dialerOf('controlplane') };

async function serve(config: Partial<ApiServerConfig>, overrides: Partial<ApiServerDeps> = {}) {
  const store = openMemoryStore({ clock: realClock });
  opened.push(() => store.close());
  const deps = { store, clock: realClock, random: seededRandom(1), logger: silentLogger, metrics: new MetricsRegistry(), egress };
  const server = startApiServer({ version: {}, anonymousAuth: false, systemObjects: false, ...config }, { ...deps, ...overrides });
  opened.push(() => server[Symbol.asyncDispose]());
  await server.ready;
  const client = new Client(inProcessTransport(server.handle, { name: 'a', groups: ['system:masters'] }, { clock: realClock }));
  return { server, client };
}

test('aggregated servers are reached by the network of the cluster', async () => {
  const extension = await extensionServer();
  opened.push(() => extension[Symbol.asyncDispose]());
  const kubelets = new HttpsKubeletConnector({ dial: egress.cluster });
  opened.push(() => kubelets[Symbol.dispose]());
  const { client } = await serve({ aggregation: { proxyClient: extension.frontProxy } }, { kubelets });
  await client.of(core.Namespace).create({ metadata: { name: 'default' } });
  const reference = { name: 'fruit', namespace: 'default', port: extension.port };
  await client.of(core.Service).create({
    metadata: { name: 'fruit', namespace: 'default' },
    spec: { type: 'ExternalName', externalName: 'fruit.invalid' },
  });
  const caBundle = Buffer.from(extension.authority.certificate).toString('base64');
  await client.of(apiregistration.APIService).create({
    metadata: { name: `v1.${GROUP}` },
    spec: { group: GROUP, version: 'v1', groupPriorityMinimum: 10, versionPriority: 10, caBundle, service: reference },
  });
  const isAvailable = async () =>
    (await client.of(apiregistration.APIService).get({ name: `v1.${GROUP}` })).status?.conditions?.[0]?.status;
  await expect.poll(isAvailable).toBe('True');
  expect([...dialed]).toEqual([`cluster fruit.invalid:${extension.port}`]);
});

test('issuers of ID tokens are reached by the network that their configuration names', async () => {
  const issuer = await TestIssuer.start(seededRandom('egress'));
  opened.push(() => issuer[Symbol.asyncDispose]());
  const text = `
apiVersion: apiserver.config.k8s.io/v1
kind: AuthenticationConfiguration
jwt:
- issuer: { url: '${issuer.url}', audiences: [sampan], certificateAuthority: ${JSON.stringify(issuer.authority)}, egressSelectorType: cluster }
  claimMappings: { username: { claim: sub, prefix: '' } }
`;
  const authenticator = new JwtAuthenticator(parseAuthenticationConfiguration(text, []).jwt[0]!, { clock: realClock, realClock, egress });
  expect(await authenticator.authenticateToken(await issuer.token({ sub: 'jane' }))).toMatchObject({ user: { name: 'jane' } });
  expect([...dialed]).toEqual([`cluster ${new URL(issuer.url).host}`]);
});

test('the audit webhook is reached by the network of the control plane', async () => {
  const pki = loopbackPki(seededRandom('audit'));
  const posts: string[] = [];
  const receiver = https.createServer({ cert: pki.cert, key: pki.key }, (request, response) => {
    posts.push(request.url ?? '');
    request.resume().on('end', () => response.end());
  });
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  opened.push(() => {
    receiver.closeAllConnections();
    receiver.close();
  });
  const { port } = receiver.address() as AddressInfo;
  const ca = Buffer.from(pki.authority).toString('base64');
  const text = `{clusters: [{name: c, cluster: {server: 'https://127.0.0.1:${port}/events', certificate-authority-data: ${ca}}}], contexts: [{name: x, context: {cluster: c}}], current-context: x}`;
  const policy = parseAuditPolicy('{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: Metadata}]}', 'policy.yaml');
  const { client } = await serve({
    audit: { policy, webhook: { mode: 'blocking', kubeconfig: { path: 'webhook.kubeconfig', text }, initialBackoffMs: 1 } as never },
  });
  await client.of(core.Namespace).create({ metadata: { name: 'n' } });
  expect(new Set(posts)).toEqual(new Set(['/events?timeout=30s']));
  expect([...dialed]).toEqual([`controlplane 127.0.0.1:${port}`]);
});
