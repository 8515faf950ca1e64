import { createPublicKey } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { admissionregistration, core } from '#api';
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
import { openMemoryStore } from '#store';
import type { AuditConfig } from './audit/audit.ts';
import type { AuditEvent } from './audit/audit-event.ts';
import { parseAuditPolicy } from './audit/audit-policy.ts';
import { parseTokenFile, staticTokens } from './authn/static-tokens.ts';
import { inProcessTransport } from './in-process/in-process-transport.ts';
import { type ApiServer, startApiServer } from './server.ts';

const random = seededRandom('audit');
const now = realClock.now();
const validity = { notBefore: now - 60_000, notAfter: now + 3_600_000 };
const root = createAuthority({ subject: { commonName: 'root' }, ...validity }, random);
const key = newPrivateKey();
const security = {
  cert: signCertificate(
    {
      subject: { commonName: 's' },
      publicKey: createPublicKey(key),
      ...validity,
      extendedKeyUsages: ['serverAuth'],
      ipAddresses: ['127.0.0.1'],
    },
    loadAuthority(root),
    random,
  ),
  key: privateKeyPem(key),
};

const directory = mkdtempSync(path.join(os.tmpdir(), 'sampan-audit-log-'));
afterAll(() => rmSync(directory, { recursive: true }));

let file = '';
let count = 0;
const stops: AsyncDisposable[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop[Symbol.asyncDispose]();
});

const policyOf = (rules: string) => parseAuditPolicy(`{apiVersion: audit.k8s.io/v1, kind: Policy, ${rules}}`, 'policy');
const BATCH = { bufferSize: 1000, maxBatchSize: 1, maxBatchWaitMs: 1000 };

function logTo(rules: string, mode: 'batch' | 'blocking' | 'blocking-strict' = 'blocking'): AuditConfig {
  file = path.join(directory, `audit-${++count}.log`);
  return {
    policy: policyOf(rules),
    log: { mode, batch: BATCH, format: 'json', file: { path: file, maxBytes: 0, maxAgeMs: 0, maxBackups: 0, compress: false } },
  };
}

interface ServedApi {
  readonly server: ApiServer;
  readonly metrics: MetricsRegistry;
  readonly jane: Client;
  request(method: string, target: string, options?: { headers?: Record<string, string>; body?: unknown }): Promise<Answer>;
  /** Stops the server and reads what it wrote. */
  events(): Promise<AuditEvent[]>;
}
interface Answer {
  readonly code: number;
  readonly auditId: string;
}

async function serve(audit: AuditConfig, admission = false): Promise<ServedApi> {
  const metrics = new MetricsRegistry();
  const store = openMemoryStore({ clock: realClock });
  const server = startApiServer(
    {
      listen: { host: '127.0.0.1', port: 0, tls: { ...security, ca: root.certificate } },
      version: { major: '1', minor: '36' },
      anonymousAuth: false,
      systemObjects: false,
      audit,
    },
    {
      store,
      clock: realClock,
      random,
      logger: silentLogger,
      metrics,
      ...(!admission && { admission: [] }),
      authenticators: [staticTokens(parseTokenFile('secret,jane,1,"devs"\nbossy,boss,2,"system:masters"'))],
      authorizer: {
        authorize: ({ resource, user }) =>
          resource === 'secrets' ? { verdict: 'deny', reason: 'no secrets' } : { verdict: 'allow', reason: `for ${user.name}` },
        rulesFor: () => ({ resourceRules: [], nonResourceRules: [], incomplete: false }),
      },
    },
  );
  stops.push(store, server);
  await server.ready;
  const jane = new Client(inProcessTransport(server.handle, { name: 'jane', groups: ['devs'] }, { clock: realClock, userAgent: 'inside' }));
  return {
    server,
    metrics,
    jane,
    request: (method, target, options = {}) => send(server.port!, { method, target, ...options }),
    async events() {
      await server[Symbol.asyncDispose]();
      const lines = readFileSync(file, 'utf8').split('\n');
      return lines.filter(Boolean).map((line) => JSON.parse(line) as AuditEvent);
    },
  };
}

interface Sent {
  readonly method: string;
  readonly target: string;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
}

function send(port: number, { method, target, headers = {}, body }: Sent): Promise<Answer> {
  const bytes = body === undefined ? undefined : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const request = https.request(
      {
        ...{ host: '127.0.0.1', port, method, path: target, ca: root.certificate, agent: false },
        headers: {
          authorization: 'Bearer secret',
          'content-type': 'application/json',
          'user-agent': 'tester',
          ...(bytes && { 'content-length': String(bytes.length) }),
          ...headers,
        },
      },
      (response) => {
        response.resume();
        response.on('end', () => resolve({ code: response.statusCode!, auditId: String(response.headers['audit-id']) }));
      },
    );
    request.on('error', reject);
    request.end(bytes);
  });
}

const namespace = { metadata: { name: 'team' } };
const map = (name: string) => ({ metadata: { name, namespace: 'team' }, data: { a: 'b' } });

describe('the audit log', () => {
  it('has the arrival and the end of a request, with who, what, where from and why it was allowed', async () => {
    const { request, events } = await serve(logTo('rules: [{level: Metadata}]'));
    const { auditId } = await request('GET', '/api/v1/namespaces?limit=5', { headers: { 'x-forwarded-for': '192.0.2.7' } });
    const [received, complete, ...rest] = await events();
    expect(rest).toEqual([]);
    expect(received).toEqual({
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      level: 'Metadata',
      auditID: auditId,
      stage: 'RequestReceived',
      requestURI: '/api/v1/namespaces?limit=5',
      verb: 'list',
      user: { username: 'jane', uid: '1', groups: ['devs', 'system:authenticated'] },
      sourceIPs: ['192.0.2.7', '127.0.0.1'],
      userAgent: 'tester',
      objectRef: { resource: 'namespaces', apiVersion: 'v1' },
      requestReceivedTimestamp: received!.stageTimestamp,
      stageTimestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
    });
    expect(complete).toEqual({
      ...received,
      stage: 'ResponseComplete',
      stageTimestamp: expect.any(String),
      responseStatus: { metadata: {}, code: 200 },
      annotations: { 'authorization.k8s.io/decision': 'allow', 'authorization.k8s.io/reason': 'for jane' },
    });
  });

  it('uses and returns the Audit-Id of the client', async () => {
    const { request, events } = await serve(logTo('rules: [{level: Metadata}], omitStages: [RequestReceived]'));
    expect((await request('GET', '/version', { headers: { 'audit-id': 'mine' } })).auditId).toBe('mine');
    const [only] = await events();
    expect([only!.auditID, only!.objectRef, only!.verb]).toEqual(['mine', undefined, 'get']);
  });

  it('records bodies at level Request, without managed fields with omitManagedFields', async () => {
    const { request, jane, events } = await serve(
      logTo(
        'omitStages: [RequestReceived], rules: [{level: Request, verbs: [patch, delete]}, {level: RequestResponse, omitManagedFields: true}]',
      ),
    );
    await jane.of(core.Namespace).create(namespace);
    await request('POST', '/api/v1/namespaces/team/configmaps', { body: map('one') });
    const patch = { data: { c: 'd' } };
    await request('PATCH', '/api/v1/namespaces/team/configmaps/one', {
      headers: { 'content-type': 'application/merge-patch+json' },
      body: patch,
    });
    await request('DELETE', '/api/v1/namespaces/team/configmaps/one', { body: { gracePeriodSeconds: 0 } });
    const [, created, patched, deleted] = await events();
    expect(created!.requestObject).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'one' }, data: { a: 'b' } });
    expect(created!.responseObject).toMatchObject({ kind: 'ConfigMap', metadata: { uid: expect.any(String) } });
    expect(JSON.stringify(created)).not.toContain('managedFields');
    expect(created!.objectRef).toEqual({ resource: 'configmaps', namespace: 'team', name: 'one', apiVersion: 'v1' });
    expect([patched!.requestObject, patched!.responseObject]).toEqual([patch, undefined]);
    expect(deleted!.requestObject).toEqual({ kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 0 });
    expect(deleted!.responseStatus).toMatchObject({ status: 'Success', details: { name: 'one' }, code: 200 });
  });

  it('records in-process, failed and forbidden requests', async () => {
    const { jane, events } = await serve(logTo('omitStages: [RequestReceived], rules: [{level: Metadata}]'));
    await expect(jane.of(core.ConfigMap).get({ name: 'missing', namespace: 'team' })).rejects.toThrow('not found');
    await expect(jane.of(core.Secret).get({ name: 'hidden', namespace: 'team' })).rejects.toThrow('forbidden');
    const [missing, hidden] = await events();
    expect(missing).toMatchObject({
      userAgent: 'inside',
      sourceIPs: ['127.0.0.1'],
      requestURI: '/api/v1/namespaces/team/configmaps/missing',
      responseStatus: { status: 'Failure', reason: 'NotFound', message: 'configmaps "missing" not found', code: 404 },
    });
    expect(hidden!.annotations).toEqual({ 'authorization.k8s.io/decision': 'forbid', 'authorization.k8s.io/reason': 'no secrets' });
    expect(hidden!.responseStatus).toMatchObject({ reason: 'Forbidden', code: 403 });
  });

  it('records the impersonated user beside the user', async () => {
    const { request, events } = await serve(logTo('omitStages: [RequestReceived], rules: [{level: Metadata}]'));
    await request('GET', '/api/v1/namespaces', { headers: { 'impersonate-user': 'joe', 'impersonate-group': 'ops' } });
    const [only] = await events();
    expect(only!.user.username).toBe('jane');
    expect(only!.impersonatedUser).toEqual({ username: 'joe', groups: ['ops', 'system:authenticated'] });
  });

  it('records failed authentications with the method that was tried', async () => {
    const { request, events } = await serve(logTo('rules: [{level: Metadata}]'));
    expect((await request('GET', '/api/v1/pods', { headers: { authorization: 'Bearer wrong' } })).code).toBe(401);
    const [only, ...rest] = await events();
    expect(rest).toEqual([]);
    expect([only!.stage, only!.user, only!.responseStatus]).toEqual([
      'ResponseStarted',
      { username: '' },
      { metadata: {}, message: 'Authentication failed, attempted: bearer', code: 401 },
    ]);
  });

  it('records the start and the end of a watch response', async () => {
    const { request, events } = await serve(logTo('rules: [{level: RequestResponse}]', 'batch'));
    await request('GET', '/api/v1/configmaps?watch=1&timeoutSeconds=1&resourceVersion=0');
    const seen = await events();
    expect(seen.map(({ stage }) => stage)).toEqual(['RequestReceived', 'ResponseStarted', 'ResponseComplete']);
  });

  it('records the audit annotations of admission', async () => {
    const { jane, events } = await serve(logTo('omitStages: [RequestReceived], rules: [{level: Metadata, verbs: [create]}]'), true);
    await jane.of(core.Namespace).create({ metadata: { name: 'team', labels: { 'pod-security.kubernetes.io/audit': 'restricted' } } });
    await jane.of(admissionregistration.ValidatingAdmissionPolicy).create({
      metadata: { name: 'no-a' },
      spec: {
        matchConstraints: { resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] }] },
        validations: [{ expression: "!('a' in object.data)", message: 'no a' }],
        auditAnnotations: [{ key: 'name', valueExpression: 'string(object.metadata.name)' }],
      },
    });
    await jane
      .of(admissionregistration.ValidatingAdmissionPolicyBinding)
      .create({ metadata: { name: 'audited' }, spec: { policyName: 'no-a', validationActions: ['Audit'] } });
    await jane.of(core.ConfigMap).create(map('one'));
    await jane.of(core.ServiceAccount).create({ metadata: { name: 'default', namespace: 'team' } });
    await jane.of(core.Pod).create({ metadata: { name: 'p', namespace: 'team' }, spec: { containers: [{ name: 'c', image: 'i' }] } });
    const seen = await events();
    const annotationsOf = (resource: string) => seen.find(({ objectRef }) => objectRef?.resource === resource)!.annotations!;
    expect(annotationsOf('configmaps')).toMatchObject({ 'no-a/name': 'one' });
    expect(JSON.parse(annotationsOf('configmaps')['validation.policy.admission.k8s.io/validation_failure']!)).toEqual([
      { message: 'no a', policy: 'no-a', binding: 'audited', expressionIndex: 0, validationActions: ['Audit'] },
    ]);
    expect(annotationsOf('pods')).toMatchObject({
      'pod-security.kubernetes.io/enforce-policy': 'privileged:latest',
      'pod-security.kubernetes.io/audit-violations': expect.stringContaining('would violate PodSecurity "restricted:latest"'),
    });
  });

  it('in blocking-strict mode fails requests that cannot be recorded', async () => {
    const { server, request, metrics } = await serve(logTo('rules: [{level: Metadata}]', 'blocking-strict'));
    expect((await request('GET', '/version')).code).toBe(200);
    const audit = startFailing();
    const strict = await serve(audit);
    expect((await strict.request('GET', '/version')).code).toBe(500);
    expect(strict.metrics.text()).toContain('apiserver_audit_requests_rejected_total 1');
    expect(metrics.text()).toContain('apiserver_audit_level_total{level="Metadata"} 1');
    expect(metrics.text()).toContain('apiserver_audit_event_total 2');
    await server[Symbol.asyncDispose]();
  });
});

/** A log that is always full. */
function startFailing(): AuditConfig {
  const { log, policy } = logTo('rules: [{level: Metadata}]', 'blocking-strict');
  return { policy, log: { ...log!, file: { ...log!.file, path: '/dev/full' } } };
}

describe('an audit webhook', () => {
  async function listen(answer: (attempt: number) => number) {
    const posts: { kind: string; apiVersion: string; items: AuditEvent[] }[] = [];
    let attempts = 0;
    const receiver = https.createServer(security, (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const code = answer(++attempts);
        if (code === 200) posts.push(JSON.parse(Buffer.concat(chunks).toString()));
        response.writeHead(code).end('x'.repeat(code === 200 ? 0 : 2_000_000));
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    const { port } = receiver.address() as AddressInfo;
    stops.push({ [Symbol.asyncDispose]: () => new Promise((resolve) => receiver.close(() => resolve())) });
    const ca = Buffer.from(root.certificate).toString('base64');
    const text = `{clusters: [{name: c, cluster: {server: 'https://127.0.0.1:${port}/events', certificate-authority-data: ${ca}}}], contexts: [{name: x, context: {cluster: c}}], current-context: x}`;
    return { posts, kubeconfig: { path: 'webhook.kubeconfig', text } };
  }

  it('gets batches of events, retried after a failure and flushed before the server stops', async () => {
    const { posts, kubeconfig } = await listen((attempt) => (attempt === 1 ? 503 : 200));
    const { server, request } = await serve({
      policy: policyOf('rules: [{level: Metadata}]'),
      webhook: { mode: 'batch', batch: { ...BATCH, maxBatchSize: 400, maxBatchWaitMs: 60_000 }, kubeconfig, initialBackoffMs: 1 },
    });
    for (let i = 0; i < 3; i++) await request('GET', '/version');
    expect(posts).toEqual([]);
    await server[Symbol.asyncDispose]();
    expect(posts.map(({ kind, apiVersion, items }) => [kind, apiVersion, items.length])).toEqual([['EventList', 'audit.k8s.io/v1', 6]]);
  });
});
