import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { admissionregistration, core, discovery } from '#api';
import { seededRandom } from '#base';
import { HttpsKubeletConnector } from '../../kubelet-client/https-kubelet-connector.ts';
import { ServiceEndpoints } from '../../service-endpoints/service-endpoints.ts';
import { configMap, serveAdmission } from '../admission-server.test-data.ts';
import { LOOPBACK_TLS } from './loopback-certificate.test-data.ts';

interface Review {
  readonly apiVersion: string;
  readonly kind: string;
  readonly request: Record<string, unknown> & {
    readonly uid: string;
    readonly object: { metadata: { name: string }; data?: Record<string, string> };
  };
}

type Answer = (review: Review, path: string) => unknown;

const opened: Server[] = [];

afterEach(() => {
  for (const server of opened.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** A webhook on the loopback interface. With an undefined response it never responds; a string is sent unchanged. */
async function hook(answer: Answer) {
  const calls: { path: string; review: Review }[] = [];
  const server = createServer(LOOPBACK_TLS, async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const review = JSON.parse(Buffer.concat(chunks).toString()) as Review;
    calls.push({ path: request.url ?? '', review });
    const reply = answer(review, request.url ?? '');
    if (reply !== undefined) response.end(typeof reply === 'string' ? reply : JSON.stringify(reply));
  });
  opened.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `https://127.0.0.1:${port}/hook`;
  return { calls, port, url, clientConfig: { url, caBundle: Buffer.from(LOOPBACK_TLS.cert).toString('base64') } };
}

const respond = (review: Review, response: object) => ({
  ...review,
  request: undefined,
  response: { uid: review.request.uid, ...response },
});
const allow: Answer = (review) => respond(review, { allowed: true });
const patching =
  (operations: (review: Review) => object[]): Answer =>
  (review) =>
    respond(review, { allowed: true, patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(operations(review))).toString('base64') });

type WebhookFields = Partial<admissionregistration.MutatingWebhook>;

const RULES = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'DELETE'], resources: ['configmaps'] }];

function webhook(fields: WebhookFields, name = 'h.example.com') {
  return {
    name,
    rules: RULES,
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    clientConfig: { url: 'https://127.0.0.1:1/hook' },
    ...fields,
  };
}

async function validating(...webhooks: WebhookFields[]) {
  const served = await serveAdmission();
  const configured = webhooks.map((fields, i) => webhook(fields, `h${i}.example.com`));
  await served.client.of(admissionregistration.ValidatingWebhookConfiguration).create({ metadata: { name: 'w' }, webhooks: configured });
  return { ...served, maps: served.client.of(core.ConfigMap) };
}

async function mutating(...configurations: WebhookFields[][]) {
  const served = await serveAdmission();
  for (const [i, webhooks] of configurations.entries()) {
    const configured = webhooks.map((fields, j) => webhook(fields, `h${j}.example.com`));
    // Created in reverse order of their calls.
    const name = `w${configurations.length - i}`;
    await served.client.of(admissionregistration.MutatingWebhookConfiguration).create({ metadata: { name }, webhooks: configured });
  }
  return { ...served, maps: served.client.of(core.ConfigMap) };
}

describe('a validating webhook', () => {
  it('gets the request, and can allow it', async () => {
    const { calls, clientConfig } = await hook(allow);
    const { maps } = await validating({ clientConfig });
    const { metadata } = await maps.create(configMap('a', { n: '1' }));
    await maps.delete(metadata);
    expect(calls.map(({ path }) => path)).toEqual(['/hook?timeout=10s', '/hook?timeout=10s']);
    expect(calls[0]?.review).toMatchObject({
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      request: {
        kind: { group: '', version: 'v1', kind: 'ConfigMap' },
        requestResource: { group: '', version: 'v1', resource: 'configmaps' },
        name: 'a',
        namespace: 'default',
        operation: 'CREATE',
        userInfo: { username: 'tester', groups: ['devs'] },
        object: { apiVersion: 'v1', kind: 'ConfigMap', data: { n: '1' } },
        oldObject: null,
        dryRun: false,
      },
    });
    expect(calls[1]?.review.request).toMatchObject({ operation: 'DELETE', object: null, oldObject: { kind: 'ConfigMap' } });
  });

  it.each([
    [
      { status: { code: 409, reason: 'Conflict', message: 'not now' } },
      { code: 409, reason: 'Conflict', message: 'admission webhook "h0.example.com" denied the request: not now' },
    ],
    [{ status: { reason: 'Nope' } }, { code: 400, message: 'admission webhook "h0.example.com" denied the request: Nope' }],
    [{}, { code: 400, message: 'admission webhook "h0.example.com" denied the request without explanation' }],
  ])('refuses with %j', async (response, error) => {
    const { clientConfig } = await hook((review) => respond(review, { allowed: false, ...response }));
    const { maps } = await validating({ clientConfig });
    await expect(maps.create(configMap('a'))).rejects.toMatchObject(error);
  });

  it.each<[string, Answer, string]>([
    ['no JSON', () => 'x', "failed to call webhook: couldn't get version/kind; json parse error: "],
    ['no response', () => ({}), 'received invalid webhook response: webhook response was absent'],
    [
      'the answer to another question',
      (review) => ({ ...review, response: { uid: 'x' } }),
      'received invalid webhook response: expected response.uid="',
    ],
    [
      'another kind',
      (review) => ({ response: { uid: review.request.uid } }),
      'expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, Kind=',
    ],
    ['a patch', patching(() => [{ op: 'remove', path: '/data' }]), 'validating webhook may not return response.patch'],
  ])('that answers with %s was not asked', async (_, answer, text) => {
    const { clientConfig } = await hook(answer);
    const failing = await validating({ clientConfig });
    const refused = failing.maps.create(configMap('a'));
    await expect(refused).rejects.toMatchObject({ code: 500, reason: 'InternalError', message: expect.stringContaining(text) });
    const ignoring = await validating({ clientConfig, failurePolicy: 'Ignore' });
    await expect(ignoring.maps.create(configMap('a'))).resolves.toBeDefined();
  });

  it('must have a certificate that its caBundle trusts', async () => {
    const { calls, url } = await hook(allow);
    const { maps } = await validating({ clientConfig: { url } });
    const text = `Post "${url}?timeout=10s": tls: failed to verify certificate: x509: certificate signed by unknown authority`;
    await expect(maps.create(configMap('a'))).rejects.toThrow(text);
    expect(calls).toEqual([]);
  });

  it('is called with its timeout', async () => {
    const { clientConfig, url } = await hook(() => undefined);
    const { maps } = await validating({ clientConfig, timeoutSeconds: 1 });
    await expect(maps.create(configMap('a'))).rejects.toThrow(`Post "${url}?timeout=1s": context deadline exceeded`);
  });

  it('without side effects is called for dry runs, with dryRun set', async () => {
    const { calls, clientConfig } = await hook(allow);
    const { maps } = await validating({ clientConfig, sideEffects: 'NoneOnDryRun' });
    await expect(maps.create(configMap('a'), { dryRun: true })).resolves.toBeDefined();
    expect(calls[0]?.review.request.dryRun).toBe(true);
  });

  it('is asked only if its conditions and selectors hold', async () => {
    const { calls, clientConfig } = await hook(allow);
    const matchConditions = [{ name: 'm', expression: "object.metadata.name != 'skip'" }];
    const { maps } = await validating({ clientConfig, matchConditions }, { clientConfig, objectSelector: { matchLabels: { hook: 'me' } } });
    await maps.create(configMap('skip'));
    expect(calls).toHaveLength(0);
    await maps.create(configMap('a'));
    expect(calls).toHaveLength(1);
    await maps.create(configMap('b', {}, { hook: 'me' }));
    expect(calls).toHaveLength(3);
  });

  it('is called at its service, under the name of the service', async () => {
    const { calls, port } = await hook(allow);
    const caBundle = Buffer.from(LOOPBACK_TLS.cert).toString('base64');
    const service = { namespace: 'default', name: 's', path: '/x', port };
    const { client, maps } = await validating({ clientConfig: { service, caBundle } });
    await expect(maps.create(configMap('a'))).rejects.toThrow(`Post "https://s.default.svc:${port}/x?timeout=10s": service "s" not found`);
    const spec = { type: 'ExternalName', externalName: 'localhost' };
    await client.of(core.Service).create({ metadata: { name: 's', namespace: 'default' }, spec });
    // It is reached, but its certificate is not for the name of the service.
    await expect(maps.create(configMap('a'))).rejects.toThrow('x509: certificate is valid for 127.0.0.1, localhost, not s.default.svc');
    expect(calls).toEqual([]);
  });

  it('is looked for at the ready endpoints of its service', async () => {
    const { client, server } = await serveAdmission();
    using kubelets = new HttpsKubeletConnector();
    const routing = 'endpoint-or-cluster-ip';
    const addresses = new ServiceEndpoints({ table: server.table, random: seededRandom(1), kubelets, routing });
    const place = { namespace: 'default', name: 's', port: 443 };
    const spec = { clusterIP: 'None', ports: [{ name: 'web', port: 443 }] };
    await client.of(core.Service).create({ metadata: { name: 's', namespace: 'default' }, spec });
    await expect(addresses.resolve(place)).rejects.toThrow('no endpoints available for service "s"');
    await expect(addresses.resolve({ ...place, port: 1 })).rejects.toThrow('no service port 1 found for service "s"');
    await client.of(discovery.EndpointSlice).create({
      metadata: { name: 's-1', namespace: 'default', labels: { 'kubernetes.io/service-name': 's' } },
      addressType: 'IPv4',
      ports: [{ name: 'web', port: 8443 }],
      endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: false } }, { addresses: ['10.0.0.2'] }],
    });
    await expect(addresses.resolve(place)).resolves.toMatchObject({ host: '10.0.0.2', port: 8443 });
  });
});

describe('mutating webhooks', () => {
  const appending = (text: string) =>
    patching(({ request }) => [{ op: 'add', path: '/data', value: { seen: (request.object.data?.seen ?? '') + text } }]);

  it('change the object one after the other, by the names of their configurations', async () => {
    const [a, b, c] = await Promise.all(['a', 'b', 'c'].map((text) => hook(appending(text))));
    const { maps } = await mutating(
      [{ clientConfig: c!.clientConfig }],
      [{ clientConfig: a!.clientConfig }, { clientConfig: b!.clientConfig }],
    );
    expect((await maps.create(configMap('m'))).data).toEqual({ seen: 'abc' });
    const { metadata } = await maps.create(configMap('n', { x: '1' }));
    expect(JSON.stringify(metadata.managedFields)).not.toContain('f:seen');
  });

  it('are reinvoked after later changes with reinvocationPolicy IfNeeded', async () => {
    const early = await hook(appending('e'));
    const late = await hook(appending('l'));
    const { maps } = await mutating([
      { clientConfig: early.clientConfig, reinvocationPolicy: 'IfNeeded' },
      { clientConfig: late.clientConfig },
    ]);
    expect((await maps.create(configMap('m'))).data).toEqual({ seen: 'ele' });
    expect([early.calls.length, late.calls.length]).toEqual([2, 1]);
  });

  it('may not change what is deleted, nor make an object unreadable', async () => {
    const { clientConfig } = await hook(patching(() => [{ op: 'add', path: '/data', value: 'text' }]));
    const { client, maps } = await mutating([{ clientConfig, matchConditions: [{ name: 'm', expression: "request.name != 'free'" }] }]);
    await expect(maps.create(configMap('a'))).rejects.toMatchObject({ code: 500, reason: 'InternalError' });
    const { metadata } = await maps.create(configMap('free'));
    const configurations = client.of(admissionregistration.MutatingWebhookConfiguration);
    await configurations.patch({ name: 'w1' }, { webhooks: [webhook({ clientConfig }, 'h0.example.com')] });
    const text = 'attempted to modify the object, which is not supported for this operation';
    await expect(maps.delete(metadata)).rejects.toThrow(text);
  });

  it('are counted by their answers', async () => {
    const { clientConfig } = await hook(appending('b'));
    const { maps, metrics } = await mutating([{ failurePolicy: 'Ignore' }, { clientConfig }]);
    await maps.create(configMap('m'));
    const closed = await mutating([{}]);
    await expect(closed.maps.create(configMap('m'))).rejects.toThrow();
    const of = 'apiserver_admission_webhook';
    const call = (name: string, rejected: boolean) => `name="${name}",type="admit",operation="CREATE",rejected="${rejected}"`;
    const text = metrics.text();
    expect(text).toContain(`${of}_fail_open_count{name="h0.example.com",type="admit"} 1`);
    expect(text).toContain(`${of}_request_total{name="h1.example.com",type="admit",operation="CREATE",code="200",rejected="false"} 1`);
    expect(text).toContain(`${of}_admission_duration_seconds_count{${call('h1.example.com', false)}} 1`);
    const rejection = 'operation="CREATE",error_type="calling_webhook_error",rejection_code="500"';
    expect(closed.metrics.text()).toContain(`${of}_rejection_count{name="h0.example.com",type="admit",${rejection}} 1`);
  });

  it('that cannot be reached are skipped with failurePolicy Ignore', async () => {
    const { clientConfig } = await hook(appending('b'));
    const { maps } = await mutating([{ failurePolicy: 'Ignore' }, { clientConfig }]);
    expect((await maps.create(configMap('m'))).data).toEqual({ seen: 'b' });
    const closed = await mutating([{}]);
    const text =
      'failed calling webhook "h0.example.com": failed to call webhook: Post "https://127.0.0.1:1/hook?timeout=10s": dial tcp 127.0.0.1:1: connect: connection refused';
    await expect(closed.maps.create(configMap('m'))).rejects.toThrow(text);
  });
});
