import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { admissionregistration, apiextensions } from '#api';
import { realClock, silentLogger } from '#base';
import { Client, httpsTransport, type KubeObject } from '#client';
import { serveAdmission } from '../admission/admission-server.test-data.ts';
import { LOOPBACK_TLS } from '../admission/webhooks/loopback-certificate.test-data.ts';

const GROUP = 'conversion.example.com';
const NAME = `widgets.${GROUP}`;

interface Widget {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Record<string, string>; readonly finalizers?: readonly string[] };
  readonly spec?: Record<string, unknown>;
}

interface Review {
  readonly apiVersion: string;
  readonly request: { readonly uid: string; readonly desiredAPIVersion: string; readonly objects: readonly Widget[] };
}

type Answer = (review: Review) => unknown;

const opened: Server[] = [];
const disposables: AsyncDisposable[] = [];

afterEach(async () => {
  for (const disposable of disposables.splice(0).toReversed()) await disposable[Symbol.asyncDispose]();
  for (const server of opened.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function webhook(answer: Answer) {
  const reviews: Review[] = [];
  const server = createServer(LOOPBACK_TLS, async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const review = JSON.parse(Buffer.concat(chunks).toString()) as Review;
    reviews.push(review);
    response.end(JSON.stringify(answer(review)));
  });
  opened.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/convert`;
  return { reviews, clientConfig: { url, caBundle: Buffer.from(LOOPBACK_TLS.cert).toString('base64') } };
}

/** What v1 calls `host`, v2 calls `address`. */
function translated({ spec = {}, ...rest }: Widget, apiVersion: string): Widget {
  const value = spec.host ?? spec.address;
  return { ...rest, apiVersion, spec: apiVersion.endsWith('/v2') ? { address: value } : { host: value } };
}

const converting =
  (change: (widget: Widget) => unknown = (widget) => widget, overrides: object = {}): Answer =>
  ({ apiVersion, request: { uid, desiredAPIVersion, objects } }) => ({
    kind: 'ConversionReview',
    apiVersion,
    response: {
      uid,
      convertedObjects: objects.map((object) => change(translated(object, desiredAPIVersion))),
      result: { status: 'Success' },
      ...overrides,
    },
  });

const version = (name: string, field: string, storage: boolean) => ({
  name,
  served: true,
  storage,
  schema: {
    openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: { [field]: { type: 'string' } } } } },
  },
  selectableFields: [{ jsonPath: `.spec.${field}` }],
});

async function define(client: Client, conversion?: object) {
  const definitions = client.of(apiextensions.CustomResourceDefinition);
  const names = { plural: 'widgets', kind: 'Widget' };
  const versions = [version('v1', 'host', true), version('v2', 'address', false)];
  await definitions.create({
    metadata: { name: NAME },
    spec: { group: GROUP, scope: 'Namespaced', names, versions, ...(conversion && { conversion }) },
  } as never);
  const inVersion = (name: string) => client.resource({ group: GROUP, version: name, resource: 'widgets', namespaced: true });
  await expect
    .poll(() =>
      inVersion('v2')
        .list()
        .catch(() => undefined),
    )
    .toBeDefined();
  return { definitions, v1: inVersion('v1'), v2: inVersion('v2') };
}

async function served(clientConfig: object, conversionReviewVersions = ['v1']) {
  const { client } = await serveAdmission();
  return { client, ...(await define(client, conversionBy(clientConfig, conversionReviewVersions))) };
}

const conversionBy = (clientConfig: object, conversionReviewVersions = ['v1']) => ({
  strategy: 'Webhook',
  webhook: { clientConfig, conversionReviewVersions },
});

/** Like `served`, with clients that connect over the network. */
async function servedOverNetwork(clientConfig: object) {
  const listen = { host: '127.0.0.1', port: 0, tls: LOOPBACK_TLS };
  const { server } = await serveAdmission(() => false, { listen, anonymousAuth: true });
  disposables.push(server);
  const connection = { server: `https://127.0.0.1:${server.port}`, ca: LOOPBACK_TLS.cert };
  const transport = httpsTransport(connection, { clock: realClock, logger: silentLogger });
  disposables.push(transport);
  return define(new Client(transport), conversionBy(clientConfig));
}

const widget = (apiVersion: string, spec: object, metadata: object = {}) =>
  ({
    apiVersion: `${GROUP}/${apiVersion}`,
    kind: 'Widget',
    metadata: { name: 'a', namespace: 'default', ...metadata },
    spec,
  }) as never;
const A = { namespace: 'default', name: 'a' };

describe('a definition with a conversion webhook', () => {
  it('has its objects converted when they are read and written in another version', async () => {
    const { reviews, clientConfig } = await webhook(converting());
    const { v1, v2 } = await served(clientConfig);
    expect(await v2.create(widget('v2', { address: 'x' }))).toMatchObject({ apiVersion: `${GROUP}/v2`, spec: { address: 'x' } });
    expect(reviews.map(({ request }) => request.desiredAPIVersion)).toEqual([`${GROUP}/v1`, `${GROUP}/v2`]);
    expect(await v1.get(A)).toMatchObject({ apiVersion: `${GROUP}/v1`, spec: { host: 'x' } });
    await v1.patch(A, { spec: { host: 'y' } });
    expect(await v2.get(A)).toMatchObject({ spec: { address: 'y' } });
    expect((await v2.list()).items).toMatchObject([{ spec: { address: 'y' } }]);
  });

  it('has them converted for policies that are written for another version', async () => {
    const { clientConfig } = await webhook(converting());
    const { client, v2 } = await served(clientConfig);
    const resourceRules = [{ apiGroups: [GROUP], apiVersions: ['v1'], operations: ['CREATE'], resources: ['widgets'] }];
    const validations = [{ expression: "object.spec.host != 'bad'", messageExpression: "'bad host ' + object.spec.host" }];
    await client.of(admissionregistration.ValidatingAdmissionPolicy).create({
      metadata: { name: 'p' },
      spec: { matchConstraints: { resourceRules }, validations },
    } as never);
    await client.of(admissionregistration.ValidatingAdmissionPolicyBinding).create({
      metadata: { name: 'b' },
      spec: { policyName: 'p', validationActions: ['Deny'] },
    } as never);
    await expect(v2.create(widget('v2', { address: 'bad' }))).rejects.toThrow('bad host bad');
    expect(await v2.create(widget('v2', { address: 'good' }))).toMatchObject({ spec: { address: 'good' } });
  });

  it('is asked who owns a field that has another name in the version of its owner', async () => {
    const { clientConfig } = await webhook(converting());
    const { v1, v2 } = await served(clientConfig);
    type Fields = Readonly<Record<string, object>>;
    const owners = ({ metadata }: KubeObject) =>
      (metadata.managedFields ?? [])
        .map(({ manager = '', apiVersion, fieldsV1 }) => ({ manager, apiVersion, spec: Object.keys((fieldsV1 as Fields)['f:spec'] ?? {}) }))
        .toSorted((a, b) => (a.manager < b.manager ? -1 : 1));
    const byV1 = (spec: string[]) => ({ manager: 'one', apiVersion: `${GROUP}/v1`, spec });
    const byV2 = (manager: string) => ({ manager, apiVersion: `${GROUP}/v2`, spec: ['f:address'] });

    expect(owners(await v1.apply(widget('v1', { host: 'x' }), { fieldManager: 'one' }))).toEqual([byV1(['f:host'])]);
    await expect(v2.apply(widget('v2', { address: 'y' }), { fieldManager: 'two' })).rejects.toThrow(
      `Apply failed with 1 conflict: conflict with "one": .spec.host`,
    );
    expect(owners(await v2.apply(widget('v2', { address: 'x' }), { fieldManager: 'two' }))).toEqual([byV1(['f:host']), byV2('two')]);
    expect(owners(await v2.patch(A, { spec: { address: 'z' } }, { fieldManager: 'three' }))).toEqual([byV2('three')]);
    expect(await v1.get(A)).toMatchObject({ spec: { host: 'z' } });
  });

  it('may change labels and annotations, and nothing else of metadata', async () => {
    const relabelled = (object: Widget) => ({ ...object, metadata: { ...object.metadata, labels: { by: 'hook' }, generation: 99 } });
    const { clientConfig } = await webhook(converting(relabelled));
    const { v1, v2 } = await served(clientConfig);
    await v1.create(widget('v1', { host: 'x' }));
    expect((await v2.get(A)).metadata).toMatchObject({ labels: { by: 'hook' }, generation: 1 });
  });

  it('selects by the fields of the version that is listed or deleted', async () => {
    const { clientConfig } = await webhook(converting());
    const { v1, v2 } = await served(clientConfig);
    for (const [name, host] of Object.entries({ a: 'x', b: 'y', c: 'x' })) await v1.create(widget('v1', { host }, { name }));
    const names = async (resource: typeof v1, fieldSelector: string, limit?: number) =>
      (await resource.list({ fieldSelector, ...(limit && { limit }) })).items.map(({ metadata }) => metadata.name);
    expect(await names(v2, 'spec.address=x')).toEqual(['a', 'c']);
    expect(await names(v2, 'spec.address=x', 1)).toEqual(['a']);
    expect(await names(v1, 'spec.host=y')).toEqual(['b']);
    await expect(names(v2, 'spec.host=x')).rejects.toMatchObject({ code: 400 });
    await v2.deleteCollection({ namespace: 'default', fieldSelector: 'spec.address=x' });
    expect((await v1.list()).items.map(({ metadata }) => metadata.name)).toEqual(['b']);
  });

  it.each([
    ['in this process', served],
    ['over the network', servedOverNetwork],
  ])('selects watched changes by the fields of the watched version, %s', async (_place, serve) => {
    const { clientConfig } = await webhook(converting());
    const { v1, v2 } = await serve(clientConfig);
    await v1.create(widget('v1', { host: 'x' }, { name: 'a' }));
    await v1.create(widget('v1', { host: 'y' }, { name: 'b' }));
    const events = v2.watch({ fieldSelector: 'spec.address=x', sendInitialEvents: true })[Symbol.asyncIterator]();
    const next = async () => {
      for (;;) {
        const { value } = (await events.next()) as { value: { type: string; object: Widget } };
        if (value.type !== 'BOOKMARK') return [value.type, value.object.metadata.name, value.object.apiVersion, value.object.spec?.address];
      }
    };
    expect(await next()).toEqual(['ADDED', 'a', `${GROUP}/v2`, 'x']);
    await v1.patch({ ...A, name: 'b' }, { spec: { host: 'x' } });
    expect(await next()).toEqual(['ADDED', 'b', `${GROUP}/v2`, 'x']);
    await v1.patch({ ...A, name: 'b' }, { metadata: { labels: { changed: 'yes' } } });
    expect(await next()).toEqual(['MODIFIED', 'b', `${GROUP}/v2`, 'x']);
    await v1.patch(A, { spec: { host: 'z' } });
    expect(await next()).toEqual(['DELETED', 'a', `${GROUP}/v2`, 'x']);
    await v1.delete(A);
    await v1.delete({ ...A, name: 'b' });
    expect(await next()).toEqual(['DELETED', 'b', `${GROUP}/v2`, 'x']);
    await events.return?.();
  });

  it.each<[string, Answer, string]>([
    [
      'another kind',
      converting((object) => ({ ...object, kind: 'Gadget' })),
      'returned invalid object at index 0: invalid kind (expected Widget, received Gadget)',
    ],
    [
      'another version',
      converting((object) => ({ ...object, apiVersion: 'x/v9' })),
      `returned invalid object at index 0: invalid groupVersion (expected ${GROUP}/v2, received x/v9)`,
    ],
    [
      'another name',
      converting((object) => ({ ...object, metadata: { ...object.metadata, name: 'b' } })),
      'returned invalid object: must have the same name: a != b',
    ],
    ['nothing', converting(undefined, { convertedObjects: [] }), 'returned 0 objects, expected 1'],
    ['a failure', converting(undefined, { result: { status: 'Failed', message: 'no way' } }), 'failed: no way'],
    ['a failure without a word', converting(undefined, { result: {} }), "failed: response.result.status was '', not 'Success'"],
    ['no response', ({ apiVersion }) => ({ kind: 'ConversionReview', apiVersion }), 'failed: no response provided'],
    [
      'a review of another version',
      () => ({ kind: 'ConversionReview', apiVersion: 'x/v1' }),
      'failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got x/v1, Kind=ConversionReview',
    ],
  ])('whose webhook answers with %s says so', async (_what, answer, complaint) => {
    const { clientConfig } = await webhook(answer);
    const { v1, v2 } = await served(clientConfig);
    await v1.create(widget('v1', { host: 'x' }));
    const failure = { code: 500, message: `conversion webhook for ${GROUP}/v1, Kind=Widget ${complaint}` };
    await expect(v2.get(A)).rejects.toMatchObject(failure);
  });

  it('tells every use of another version when the webhook cannot be reached, and is deleted all the same', async () => {
    const { definitions, v1, v2 } = await served({ url: 'https://127.0.0.1:1/convert' });
    await v1.create(widget('v1', { host: 'x' }));
    const refused = 'failed: Post "https://127.0.0.1:1/convert?timeout=30s": dial tcp 127.0.0.1:1: connect: connection refused';
    const fromV1 = { code: 500, message: `conversion webhook for ${GROUP}/v1, Kind=Widget ${refused}` };
    await expect(v2.get(A)).rejects.toMatchObject(fromV1);
    await expect(v2.list()).rejects.toMatchObject(fromV1);
    await expect(v2.delete(A)).rejects.toMatchObject(fromV1);
    await v1.delete(A);
    await expect(v2.create(widget('v2', { address: 'x' }))).rejects.toMatchObject({
      message: `conversion webhook for ${GROUP}/v2, Kind=Widget ${refused}`,
    });
    await v1.create(widget('v1', { host: 'x' }));
    await definitions.delete({ name: NAME });
    await expect.poll(() => definitions.get({ name: NAME }).catch(() => undefined)).toBeUndefined();
  });
});

describe('a definition with several versions', () => {
  it('answers a deletion that something holds up in the version that was asked', async () => {
    const { client } = await serveAdmission();
    const { v1, v2 } = await define(client);
    await v1.create(widget('v1', { host: 'x' }, { finalizers: ['example.com/hold'] }));
    expect(await v2.delete(A)).toMatchObject({ apiVersion: `${GROUP}/v2`, metadata: { finalizers: ['example.com/hold'] } });
  });

  it('keeps what was written in a version when another becomes the one to store, until it is written anew', async () => {
    const { client } = await serveAdmission();
    const { definitions, v1, v2 } = await define(client);
    await v1.create(widget('v1', { host: 'x' }));
    const versions = [version('v1', 'host', false), version('v2', 'address', true)];
    await definitions.patch({ name: NAME }, { spec: { versions } });
    await expect.poll(async () => (await definitions.get({ name: NAME })).status?.storedVersions).toEqual(['v1', 'v2']);
    expect(await v1.get(A)).toMatchObject({ apiVersion: `${GROUP}/v1`, spec: { host: 'x' } });
    expect(await v2.get(A)).toMatchObject({ apiVersion: `${GROUP}/v2`, spec: {} });
    await v2.patch(A, { spec: { address: 'y' } });
    expect(await v1.get(A)).toMatchObject({ spec: {} });
    expect((await v1.get(A)) as unknown as Widget).not.toHaveProperty('spec.host');
  });
});
