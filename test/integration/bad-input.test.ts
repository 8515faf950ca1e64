import { once } from 'node:events';
import http2 from 'node:http2';
import https from 'node:https';
import net from 'node:net';
import tls from 'node:tls';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { importPKCS8, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseTokenFile } from '#apiserver';
import { realClock, silentLogger, systemRandom } from '#base';
import { type Cluster, createPki, startCluster } from '#cluster';
import { openMemoryStore } from '#store';

// For any input the server returns a proper Status or closes the connection, and continues.
let cluster: Cluster;
let port: number;
let signingKey: string;
const store = openMemoryStore();

beforeAll(async () => {
  const pki = await createPki({ names: { ipAddresses: ['127.0.0.1'] }, now: realClock.now(), random: systemRandom });
  signingKey = pki.serviceAccountKey;
  const staticTokens = parseTokenFile('admin,admin,1,"system:masters"\n');
  cluster = startCluster(
    {
      listen: { host: '127.0.0.1', port: 0 },
      pki,
      apiServer: { staticTokens, limits: { requestTimeoutMs: 500 } },
      controllerManager: { controllers: [] },
    },
    { store, clock: realClock, random: systemRandom, logger: silentLogger },
  );
  await cluster.ready;
  port = cluster.apiServer.port!;
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await store.close();
});

interface Answer {
  readonly code: number;
  readonly body: string;
}

interface Sent {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: Buffer | string;
}

function send({ method = 'GET', path, headers = {}, body }: Sent): Promise<Answer> {
  const all = { authorization: 'Bearer admin', ...(body !== undefined && { 'content-type': 'application/json' }), ...headers };
  return new Promise((resolve, reject) => {
    const request = https.request(
      { host: '127.0.0.1', port, method, path, headers: all, rejectUnauthorized: false, agent: false },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => resolve({ code: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }));
        response.on('error', reject);
      },
    );
    request.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EPIPE' || error.code === 'ECONNRESET' ? resolve({ code: 0, body: '' }) : reject(error),
    );
    request.end(body);
  });
}

async function goesOn(): Promise<void> {
  expect(await send({ path: '/livez' })).toEqual({ code: 200, body: 'ok' });
}

const MAPS = '/api/v1/namespaces/default/configmaps';
const map = (data: string) => `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"x-"},"data":${data}}`;

/** Small bodies that are expensive to decode. */
const HEAVY: readonly Sent[] = [
  { method: 'POST', path: MAPS, body: map(`${'['.repeat(10_001)}${']'.repeat(10_001)}`) },
  { method: 'POST', path: MAPS, body: Buffer.alloc(3 * 1024 * 1024 + 1, 0x20) },
  { method: 'POST', path: MAPS, headers: { 'content-type': 'application/yaml' }, body: yamlBomb() },
  { method: 'POST', path: MAPS, body: map(`{"a":"${'x'.repeat(2 * 1024 * 1024)}`) },
  { method: 'PATCH', path: '/api/v1/namespaces/default', headers: { 'content-type': 'application/json-patch+json' }, body: copyBomb() },
  { path: `${MAPS}?labelSelector=${'('.repeat(8000)}` },
];

describe('memory', () => {
  test('returns to where it was', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const round = async () => {
      for (const sent of HEAVY) await send(sent);
      await goesOn();
      collect();
    };
    for (let i = 0; i < 3; i++) await round();
    const before = process.memoryUsage().heapUsed;
    for (let i = 0; i < 15; i++) await round();
    expect((process.memoryUsage().heapUsed - before) / 1024 / 1024).toBeLessThan(8);
  });
});

describe('tokens of service accounts', () => {
  const claims = (exp: number) => ({
    iss: 'https://kubernetes.default.svc.cluster.local',
    aud: ['https://kubernetes.default.svc.cluster.local'],
    sub: 'system:serviceaccount:default:default',
    'kubernetes.io': { namespace: 'default', serviceaccount: { name: 'default', uid: 'x' } },
    exp,
    iat: exp - 3600,
    nbf: exp - 3600,
  });
  const now = () => Math.floor(realClock.now() / 1000);
  const signed = async (exp: number) => {
    const algorithm = signingKey.includes('RSA') ? 'RS256' : undefined;
    for (const alg of algorithm ? [algorithm] : ['RS256', 'ES256']) {
      const key = await importPKCS8(signingKey, alg).catch(() => undefined);
      if (key) return new SignJWT(claims(exp)).setProtectedHeader({ alg }).sign(key);
    }
    throw new Error('no algorithm fits the key');
  };
  const answerTo = async (token: string) => {
    const { code, body } = await send({ path: '/api/v1/namespaces/default', headers: { authorization: `Bearer ${token}` } });
    return { code, ...(JSON.parse(body) as { reason: string; kind: string }) };
  };

  test.each<[string, () => Promise<string>]>([
    ['an expired one', () => signed(now() - 60)],
    ['one that lives too long in the past', () => signed(1)],
    ['one of an account that is not there', () => signed(now() + 600)],
    ['one whose signature was changed', async () => (await signed(now() + 600)).replace(/.{8}$/, 'AAAAAAAA')],
    [
      'one whose claims were changed',
      async () =>
        (await signed(now() + 600)).replace(/\..+\./, `.${Buffer.from(JSON.stringify(claims(now() + 9e6))).toString('base64url')}.`),
    ],
    ['one without a signature', async () => `${(await signed(now() + 600)).split('.').slice(0, 2).join('.')}.`],
    ['one of three dots', async () => '...'],
    ['a long one', async () => 'a.'.repeat(3000)],
  ])('%s is refused', async (_name, token) => {
    expect(await answerTo(await token())).toMatchObject({ code: 401, kind: 'Status', reason: 'Unauthorized' });
    await goesOn();
  });
});

describe('bodies', () => {
  const cases: readonly [string, Sent, number][] = [
    ['malformed JSON', { method: 'POST', path: MAPS, body: '{"a":' }, 400],
    [
      'invalid UTF-8',
      {
        method: 'POST',
        path: MAPS,
        body: Buffer.concat([Buffer.from('{"metadata":{"name":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}}')]),
      },
      422,
    ],
    ['10,000 nested arrays', { method: 'POST', path: MAPS, body: map(`${'['.repeat(10_001)}${']'.repeat(10_001)}`) }, 400],
    ['nested objects where text is wanted', { method: 'POST', path: MAPS, body: map('{"a":{"b":{}}}') }, 400],
    ['a prototype key as data', { method: 'POST', path: MAPS, body: map('{"__proto__":"x"}') }, 201],
    ['a body of 3 MiB and a byte', { method: 'POST', path: MAPS, body: Buffer.alloc(3 * 1024 * 1024 + 1, 0x20) }, 413],
    ['a YAML bomb', { method: 'POST', path: MAPS, headers: { 'content-type': 'application/yaml' }, body: yamlBomb() }, 400],
    [
      'text that claims to be protobuf',
      { method: 'POST', path: MAPS, headers: { 'content-type': 'application/vnd.kubernetes.protobuf' }, body: 'k8s' },
      400,
    ],
    [
      'protobuf that promises more than it has',
      {
        method: 'POST',
        path: MAPS,
        headers: { 'content-type': 'application/vnd.kubernetes.protobuf' },
        body: Buffer.from([0x6b, 0x38, 0x73, 0, 0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f]),
      },
      400,
    ],
    ['an unknown content type', { method: 'POST', path: MAPS, headers: { 'content-type': 'text/html' }, body: '<p>' }, 415],
    ['no body at all', { method: 'POST', path: MAPS }, 400],
    [
      'a JSON patch that copies without end',
      { method: 'PATCH', path: '/api/v1/namespaces/default', headers: { 'content-type': 'application/json-patch+json' }, body: copyBomb() },
      422,
    ],
  ];
  test.each(cases)('%s', async (_name, request, code) => {
    const answer = await send(request);
    expect(answer.code).toBe(code);
    if (answer.code >= 400) expect(JSON.parse(answer.body)).toMatchObject({ kind: 'Status', status: 'Failure', code: answer.code });
    await goesOn();
  });
});

function yamlBomb(): string {
  const levels = Array.from({ length: 30 }, (_, i) => `l${i + 1}: &l${i + 1} [${Array.from({ length: 10 }, () => `*l${i}`).join(', ')}]`);
  return ['l0: &l0 [x, x, x, x, x, x, x, x, x, x]', ...levels].join('\n');
}

function copyBomb(): string {
  const start = { op: 'add', path: '/metadata/annotations', value: { a: 'x'.repeat(1000) } };
  return JSON.stringify([start, ...Array.from({ length: 40 }, (_, i) => ({ op: 'copy', from: '/metadata', path: `/metadata/c${i}` }))]);
}

describe('paths, queries and credentials', () => {
  const cases: readonly [string, Sent, number][] = [
    ['encoded slashes in a name', { path: `${MAPS}/a%2Fb` }, 404],
    ['encoded dots in a path', { path: '/api/v1/namespaces/default/configmaps/%2e%2e/%2e%2e/secrets' }, 404],
    ['encoded slashes instead of plain ones', { path: '/api%2Fv1%2Fnamespaces%2Fdefault%2Fsecrets%2Fnone' }, 404],
    ['a dot as a name', { path: `${MAPS}/%2e` }, 400],
    ['a zero byte in a name', { path: `${MAPS}/a%00b` }, 404],
    ['a selector of 100 KB that ends too early', { path: `${MAPS}?labelSelector=${'a,'.repeat(50_000)}` }, 400],
    ['a bad escape', { path: '/api/v1/namespaces/%zz' }, 400],
    ['a huge selector', { path: `${MAPS}?labelSelector=${Array.from({ length: 600 }, (_, i) => `k${i}=v`).join(',')}` }, 200],
    ['a selector of nothing but brackets', { path: `${MAPS}?labelSelector=${'('.repeat(2000)}` }, 400],
    ['a continue token of somebody else', { path: `${MAPS}?limit=1&continue=AAAA` }, 400],
    ['a resource version from the future', { path: `${MAPS}?resourceVersion=9007199254740990` }, 504],
    ['a tampered token', { path: '/api', headers: { authorization: 'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiJ9.' } }, 401],
    ['an unknown scheme of credentials', { path: '/api/v1/secrets', headers: { authorization: 'Basic YWRtaW46YWRtaW4=' } }, 403],
    ['impersonating nobody', { path: '/api', headers: { 'impersonate-group': 'system:masters' } }, 400],
    ['a header of 20 KB', { path: '/api', headers: { 'x-filler': 'x'.repeat(20_000) } }, 200],
  ];
  test.each(cases)('%s', async (_name, request, code) => {
    const answer = await send(request);
    expect(answer.code).toBe(code);
    await goesOn();
  });

  test('a header of two megabytes is not served', async () => {
    // The server closes the connection while the client still sends: whether its answer gets through is open.
    const { code } = await send({ path: '/api', headers: { 'x-filler': 'x'.repeat(2_000_000) } });
    expect(code).not.toBe(200);
    await goesOn();
  });
});

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\u0004\0\0\0\0\0', 'latin1');

/** A frame: type, flags, stream, and a value as its payload (none for 0). */
function frame([payload = 0, type = 0, flags = 0, stream = 0]: readonly number[]): Buffer {
  const body =
    payload === 0 ? Buffer.alloc(0) : payload === 1 ? Buffer.from([1]) : Buffer.from([payload >> 24, payload >> 16, payload >> 8, payload]);
  return Buffer.concat([Buffer.from([0, 0, body.length, type, flags, 0, 0, 0, stream]), body]);
}

describe('connections', () => {
  const raw = (bytes: Buffer | string, alpn: string) =>
    new Promise<void>((resolve, reject) => {
      const socket = tls.connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ALPNProtocols: [alpn] }, () => socket.write(bytes));
      socket.on('data', () => {});
      socket.on('error', () => {});
      const limit = realClock.setTimer(20_000, () => reject(new Error('the server keeps the connection open')));
      socket.on('close', () => {
        limit.cancel();
        resolve();
      });
    });

  test('garbage instead of HTTP/1.1 ends the connection', async () => {
    await raw('\u0000\u0001garbage\r\n\r\n', 'http/1.1');
    await goesOn();
  });

  test('bad HTTP/2 frames end the connection', async () => {
    await raw(Buffer.concat([PREFACE, Buffer.from([0xff, 0xff, 0xff, 0x42, 0xff, 0, 0, 0, 0]), Buffer.alloc(64, 0xff)]), 'h2');
    await goesOn();
  });

  test('plain text on the TLS port is refused', async () => {
    const socket = net.connect(port, '127.0.0.1');
    socket.on('error', () => {});
    socket.resume();
    socket.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(socket, 'close');
    await goesOn();
  });

  const http1 = (text: string) => raw(text, 'http/1.1');
  const request = (method: string, rest = '') => `${method} ${MAPS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin\r\n${rest}`;

  test.each([
    ['headers that never end', request('GET', 'X-Slow: ')],
    ['a body that never ends', `${request('POST', 'Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n')}{`],
    ['chunks that never end', `${request('POST', 'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n')}5\r\n{"a":\r\n`],
    ['nothing at all', ''],
    ['two lengths', request('POST', 'Content-Length: 5\r\nContent-Length: 6\r\n\r\n')],
    ['a length and chunks', request('POST', 'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n')],
    ['a chunk of no size', `${request('POST', 'Transfer-Encoding: chunked\r\n\r\n')}zz\r\n`],
  ])('%s does not keep a connection open', async (_name, text) => {
    await http1(text);
    await goesOn();
  });

  test('a client that has closed its half does not keep the connection open', async () => {
    const plain = net.connect({ host: '127.0.0.1', port, allowHalfOpen: true });
    const socket = tls.connect({ socket: plain, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] });
    socket.on('error', () => {});
    socket.resume();
    await once(socket, 'secureConnect');
    socket.end(request('GET', '\r\n'));
    await once(socket, 'close');
    await goesOn();
  });

  test.each([
    ['a stream of its own number', [[0, 1, 0x4, 0]]],
    ['data on a stream that was never opened', [[0, 0, 0, 5]]],
    [
      'a window that overflows',
      [
        [0x7fffffff, 8, 0, 0],
        [0x7fffffff, 8, 0, 0],
      ],
    ],
    [
      'headers without their end',
      [
        [0, 1, 0, 1],
        [0, 0, 0, 1],
      ],
    ],
    ['settings of a length that is none', [[1, 4, 0, 0]]],
  ])('HTTP/2: %s ends the connection', async (_name, frames) => {
    await raw(Buffer.concat([PREFACE, ...frames.map(frame)]), 'h2');
    await goesOn();
  });

  test('streams that are opened and reset without end harm nobody', async () => {
    const session = http2.connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
    session.on('error', () => {});
    for (let i = 0; i < 3000 && !session.destroyed && !session.closed; i++) {
      const stream = session.request({ ':path': `${MAPS}?watch=1`, authorization: 'Bearer admin' });
      stream.on('error', () => {});
      stream.close(http2.constants.NGHTTP2_CANCEL);
      if (i % 100 === 0) await new Promise(setImmediate);
    }
    session.destroy();
    await goesOn();
  });

  test('a body that is cut off harms nobody', async () => {
    await new Promise<void>((resolve) => {
      const socket = tls.connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] }, () => {
        socket.write(
          `POST ${MAPS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"half":`,
        );
        realClock.setTimer(50, () => socket.destroy());
      });
      socket.on('error', () => {});
      socket.on('close', () => resolve());
    });
    await goesOn();
  });

  test('hundreds of watches share one HTTP/2 connection and end with it', async () => {
    const session = http2.connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
    const open = await Promise.all(
      Array.from(
        { length: 300 },
        () =>
          new Promise<http2.ClientHttp2Stream>((resolve, reject) => {
            const stream = session.request({ ':path': `${MAPS}?watch=1`, authorization: 'Bearer admin' });
            stream.once('response', (headers) =>
              headers[':status'] === 200 ? resolve(stream) : reject(new Error(`answered ${headers[':status']}`)),
            );
            stream.on('error', () => {});
          }),
      ),
    );
    expect(open).toHaveLength(300);
    const firstData = new Promise((resolve) => open[299]!.once('data', resolve));
    await send({ method: 'POST', path: MAPS, body: map('{"a":"b"}') });
    await firstData;
    session.destroy();
    await goesOn();
  });
});
