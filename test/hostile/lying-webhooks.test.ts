import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { ADMIN_TOKEN, type HostileCluster, type Reply, startHostileCluster } from './hostile-cluster.ts';
import { JSON_LIES, type Lie, type LyingServer, startLyingServer, TRANSPORT_LIES } from './lying-server.ts';
import { TURN_BUDGET_MS } from './turn-budget.ts';
import { timedTurns } from './watch-turns.ts';

// A misbehaving webhook only affects the requests that it is called for, in bounded time.

const MAPS = '/api/v1/namespaces/default/configmaps';
const THINGS = '/apis/lies.example.com/v1/namespaces/default/things';
const POLL = { timeout: 30_000 };

interface Review {
  readonly apiVersion: string;
  readonly kind: string;
  readonly request: { readonly uid: string; readonly objects?: readonly { metadata: object }[]; readonly desiredAPIVersion?: string };
}

const reviewIn = (body: Buffer) => JSON.parse(body.toString()) as Review;
const answerTo = ({ apiVersion, kind, request: { uid } }: Review, response: object) =>
  JSON.stringify({ apiVersion, kind, response: { uid, ...response } });
const patched = (operations: readonly object[]): Lie => {
  const patch = Buffer.from(JSON.stringify(operations)).toString('base64');
  return answered({ allowed: true, patchType: 'JSONPatch', patch });
};
const answered =
  (response: object): Lie =>
  ({ body, response: out }) =>
    void out.end(answerTo(reviewIn(body), response));
/** Each copies the whole document so far. */
const doubled = Array.from({ length: 40 }, (_, i) => ({ op: 'copy', from: '/data', path: `/data/k${i}` }));

const ADMISSION_LIES: Readonly<Record<string, Lie>> = {
  'the answer to another request': answered({ uid: 'other', allowed: true }),
  'no verdict': answered({}),
  'a verdict that is a text': answered({ allowed: 'true' }),
  'a status with a code beyond measure': answered({ allowed: false, status: { code: 1e300, message: 'no', reason: 'constructor' } }),
  'a status with a negative code': answered({ allowed: false, status: { code: -1 } }),
  'a status with a code of success': answered({ allowed: false, status: { code: 200 } }),
  'a patch that is no base64': answered({ allowed: true, patchType: 'JSONPatch', patch: '\u0000*' }),
  'a patch that is no patch': patched([{ op: 'constructor', path: '/data' }]),
  'a patch of another type': answered({ allowed: true, patchType: 'constructor', patch: 'W10=' }),
  'a patch that multiplies': patched(doubled),
  'a patch of the prototype': patched([{ op: 'add', path: '/__proto__/polluted', value: 1 }]),
  'a patch of the constructor': patched([{ op: 'add', path: '/constructor/prototype/polluted', value: 1 }]),
  'a patch that replaces the object': patched([{ op: 'replace', path: '', value: null }]),
  'a patch with a path of slashes': patched([{ op: 'add', path: '/'.repeat(500_000), value: 1 }]),
  'a patch of another kind': patched([{ op: 'replace', path: '/kind', value: 'Secret' }]),
};

let hostile: HostileCluster;
let webhook: LyingServer;

beforeAll(async () => {
  hostile = await startHostileCluster({ controllerManager: { controllers: [] } });
  webhook = await startLyingServer((body) => {
    const review = reviewIn(body);
    const { objects, desiredAPIVersion } = review.request;
    if (objects === undefined) return answerTo(review, { allowed: true });
    const convertedObjects = objects.map((object) => ({ ...object, apiVersion: desiredAPIVersion }));
    return answerTo(review, { result: { status: 'Success' }, convertedObjects });
  });
  await post('/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations', {
    metadata: { name: 'liar' },
    webhooks: [
      {
        name: 'liar.example.com',
        clientConfig: { url: `${webhook.url}/mutate`, caBundle: Buffer.from(webhook.ca).toString('base64') },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] }],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        timeoutSeconds: 1,
      },
    ],
  });
  const version = (name: string, storage: boolean) => {
    const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    return { name, served: true, storage, schema: { openAPIV3Schema } };
  };
  await post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: 'things.lies.example.com' },
    spec: {
      group: 'lies.example.com',
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: [version('v1', false), version('v2', true)],
      conversion: {
        strategy: 'Webhook',
        webhook: {
          clientConfig: { url: `${webhook.url}/convert`, caBundle: Buffer.from(webhook.ca).toString('base64') },
          conversionReviewVersions: ['v1'],
        },
      },
    },
  });
  await vi.waitUntil(async () => (await hostile.send(THINGS.replace('v1', 'v2'), { token: ADMIN_TOKEN })).code === 200, POLL);
  await vi.waitUntil(async () => (await createMap()).code === 201 && webhook.requests > 0, POLL);
});
afterAll(async () => {
  await webhook[Symbol.asyncDispose]();
  await hostile[Symbol.asyncDispose]();
});

function post(path: string, object: object): Promise<Reply> {
  return hostile.send(path, { method: 'POST', token: ADMIN_TOKEN, body: JSON.stringify(object) });
}

function createMap(): Promise<Reply> {
  return post(`${MAPS}?dryRun=All`, { metadata: { name: 'a' }, data: { a: 'x'.repeat(1000) } });
}

let objectCount = 0;
/** Written in one version and stored in another, so that each object is converted. */
function createThing(): Promise<Reply> {
  return post(THINGS, { apiVersion: 'lies.example.com/v1', kind: 'Thing', metadata: { name: `t${objectCount++}` } });
}

/** The response to a request that calls the webhook. Other requests must not be affected. */
async function lied(lie: Lie, ask: () => Promise<Reply>): Promise<Reply> {
  webhook.lie = lie;
  const loggedBefore = hostile.logged.length;
  const { answer: reply, longestMs } = await timedTurns(TURN_BUDGET_MS, ask);
  webhook.lie = undefined;
  expect(longestMs).toBeLessThan(TURN_BUDGET_MS);
  expect(hostile.logged.slice(loggedBefore).filter((line) => /\b(Type|Range|Reference)Error\b/.test(line))).toEqual([]);
  expect(reply.body.length).toBeLessThan(100_000);
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  expect(await hostile.send('/livez')).toMatchObject({ code: 200 });
  return reply;
}

const ALL = { ...TRANSPORT_LIES, ...JSON_LIES };

describe('an admission webhook', () => {
  test.each(Object.entries({ ...ALL, ...ADMISSION_LIES }))('that answers with %s makes the request fail', async (_, lie) => {
    const { code, body } = await lied(lie, createMap);
    expect([code, JSON.parse(body)]).toEqual([
      expect.toSatisfy((value: number) => value >= 400 && value < 600),
      expect.objectContaining({ kind: 'Status', status: 'Failure' }),
    ]);
    expect((await createMap()).code).toBe(201);
  });

  test('that answers with many long warnings makes the answer no longer than clients take', async () => {
    const warnings = Array.from({ length: 10_000 }, (_, i) => `${i}${'w'.repeat(1000)}`);
    const { code, headers } = await lied(answered({ allowed: true, warnings }), createMap);
    expect(code).toBe(201);
    expect(String(headers.warning).length).toBeLessThan(8192);
  });
});

/** Without a shorter limit, upstream's timeout of 30 s would apply to each. */
const UNENDING = new Set(['a slow trickle', 'no answer']);

describe('a conversion webhook', () => {
  test.each(Object.entries(ALL).filter(([name]) => !UNENDING.has(name)))('that answers with %s makes writes fail', async (_, lie) => {
    expect((await lied(lie, createThing)).code).toBe(500);
    expect((await createThing()).code).toBe(201);
  });

  const converted = (convertedObjects: unknown) => answered({ result: { status: 'Success' }, convertedObjects });
  test.each([
    ['no objects', converted([])],
    ['null', converted([null])],
    ['too many objects', converted(Array.from({ length: 100_000 }, () => ({})))],
    ['an object of another kind', converted([{ apiVersion: 'lies.example.com/v2', kind: 'constructor', metadata: { name: 'a' } }])],
    ['an object of another name', converted([{ apiVersion: 'lies.example.com/v2', kind: 'Thing', metadata: { name: 'b' } }])],
    ['an object without metadata', converted([{ apiVersion: 'lies.example.com/v2', kind: 'Thing' }])],
  ])('that converts to %s makes writes fail', async (_, lie) => {
    expect((await lied(lie, createThing)).code).toBe(500);
  });
});
