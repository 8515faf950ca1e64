import { once } from 'node:events';
import http2 from 'node:http2';
import { setImmediate } from 'node:timers/promises';
import tls from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { createSelfSigned, realClock, silentLogger, systemRandom } from '#base';
import { LOOPBACK_TLS } from '../admission/webhooks/loopback-certificate.test-data.ts';
import type { Exchange } from './exchange.ts';
import { type Listener, listen } from './listener.ts';

const LARGE = Buffer.alloc(8 << 20, 'x');
const CHUNK = LARGE.subarray(0, 1 << 20);

let listener: Listener | undefined;
afterEach(async () => {
  await listener?.close(Promise.resolve());
  listener = undefined;
});

type Answer = (exchange: Exchange) => Promise<void> | void;

async function echoLength(exchange: Exchange): Promise<void> {
  const body = await exchange.readBody({ limit: 1 << 20 });
  exchange.respond(201, {}, `${body.length} bytes`);
}

async function serve(answerGet: Answer): Promise<number> {
  const handle = async (exchange: Exchange) => {
    // Like the server, which reads all requests that have arrived first.
    await setImmediate();
    await (exchange.method === 'GET' ? answerGet(exchange) : echoLength(exchange));
  };
  listener = await listen({ host: '127.0.0.1', port: 0, tls: LOOPBACK_TLS, handle, logger: silentLogger });
  return listener.port;
}

/** All that the server sends until `end` is in it, or until it closes the connection. */
async function receivedUntil(socket: tls.TLSSocket, end: string): Promise<string> {
  let tail = '';
  for await (const chunk of socket) {
    tail = (tail + chunk).slice(-1000);
    if (tail.includes(end)) return tail;
  }
  return tail;
}

describe('a connection of HTTP/1.1', () => {
  it.each<[string, Answer]>([
    ['in one piece', (exchange) => exchange.respond(200, {}, LARGE)],
    ['in chunks', (exchange) => exchange.respondInChunks({}, LARGE.length, Array(8).fill(CHUNK))],
  ])('takes a request of several TLS records while an answer %s is still on its way', async (_how, answer) => {
    const port = await serve(answer);
    const socket = tls.connect({ host: '127.0.0.1', port, ca: LOOPBACK_TLS.cert, ALPNProtocols: ['http/1.1'] });
    socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
    await once(socket, 'readable');
    // The client reads no further, so the rest of the answer waits in the server.
    const body = 'y'.repeat(100_000);
    socket.write(`POST / HTTP/1.1\r\nhost: a\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    expect(await receivedUntil(socket, ' bytes')).toMatch(/HTTP\/1.1 201 Created[\s\S]*\r\n\r\n100000 bytes$/);
    socket.destroy();
  });
});

describe('a client that does not read', () => {
  const MEBIBYTE = 1 << 20;
  const limited = async () => {
    const handle = async (exchange: Exchange) => exchange.respond(200, {}, Buffer.alloc(MEBIBYTE));
    listener = await listen({ host: '127.0.0.1', port: 0, tls: LOOPBACK_TLS, handle, logger: silentLogger, unreadBytes: 10 * MEBIBYTE });
    return listener.port;
  };
  const connectTo = (port: number, settings: http2.Settings) => {
    const session = http2.connect(`https://127.0.0.1:${port}`, { ca: LOOPBACK_TLS.cert, settings });
    session.on('error', () => {});
    return session;
  };

  it('has its connection closed when its responses take too much memory, and others are served', async () => {
    const port = await limited();
    const greedy = connectTo(port, { initialWindowSize: 0 });
    for (let i = 0; i < 20; i++) greedy.request({}).on('error', () => {});
    await once(greedy, 'close');
    const reader = connectTo(port, {});
    let bytes = 0;
    for await (const chunk of reader.request({})) bytes += (chunk as Buffer).length;
    reader.destroy();
    expect(bytes).toBe(MEBIBYTE);
  });

  it('keeps its connection below the limit, and gets all when it reads', async () => {
    const session = connectTo(await limited(), { initialWindowSize: 0 });
    const streams = Array.from({ length: 9 }, () => session.request({}));
    await Promise.all(streams.map((stream) => once(stream, 'response')));
    session.settings({ initialWindowSize: 2 * MEBIBYTE });
    session.setLocalWindowSize(64 * MEBIBYTE);
    let bytes = 0;
    for (const stream of streams) for await (const chunk of stream) bytes += (chunk as Buffer).length;
    session.destroy();
    expect(bytes).toBe(9 * MEBIBYTE);
  });
});

describe('the protocol of a connection', () => {
  it.each([
    ['HTTP/2, if the client offers it', ['http/1.1', 'h2'], 'h2'],
    ['HTTP/1.1 otherwise', ['spdy/3.1', 'http/1.1'], 'http/1.1'],
    ['left open if the client offers none', undefined, false],
  ])('is %s', async (_, offered, protocol) => {
    const port = await serve((exchange) => exchange.respond(200, {}, ''));
    const socket = tls.connect({ host: '127.0.0.1', port, ca: LOOPBACK_TLS.cert, ...(offered && { ALPNProtocols: offered }) });
    await once(socket, 'secureConnect');
    expect(socket.alpnProtocol).toBe(protocol);
    socket.destroy();
  });

  it('is refused if the server speaks none of those that the client offers', async () => {
    const port = await serve((exchange) => exchange.respond(200, {}, ''));
    const socket = tls.connect({ host: '127.0.0.1', port, ca: LOOPBACK_TLS.cert, ALPNProtocols: ['spdy/3.1'] });
    const [error] = await once(socket, 'error');
    expect((error as NodeJS.ErrnoException).code).toBe('ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL');
  });
});

describe('certificates by server name', () => {
  const pair = (commonName: string) =>
    createSelfSigned(
      { commonName, authorityName: 'ca', dnsNames: [], ipAddresses: ['127.0.0.1'] },
      { clock: realClock, random: systemRandom },
    );
  const client = pair('client');

  async function connect(port: number, servername: string) {
    // errors: fail the test
    const socket = tls.connect({ host: '127.0.0.1', port, servername, ...client, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] });
    await once(socket, 'secureConnect');
    return socket;
  }

  async function commonName(port: number, servername: string) {
    const socket = await connect(port, servername);
    const { CN } = socket.getPeerCertificate().subject;
    socket.destroy();
    return CN;
  }

  async function serveNames(handle: (exchange: Exchange) => Promise<void>) {
    let named = { ...pair('first'), names: ['a.example.com'] };
    const settings = { ...pair('default'), ca: client.cert, sniCertificates: () => [named] };
    listener = await listen({ host: '127.0.0.1', port: 0, tls: settings, handle, logger: silentLogger });
    const renew = () => {
      named = { ...pair('second'), names: ['a.example.com'] };
      listener?.useCertificate(settings);
    };
    return { port: listener.port, renew };
  }

  it('a renewed certificate is shown to new connections that ask for its name', async () => {
    const { port, renew } = await serveNames(async () => {});
    const before = await commonName(port, 'a.example.com');
    renew();
    expect([before, await commonName(port, 'a.example.com'), await commonName(port, 'b.example.com')]).toEqual([
      'first',
      'second',
      'default',
    ]);
  });

  it("a connection by name asks for the client's certificate", async () => {
    const { port } = await serveNames(async (exchange) => exchange.respond(200, {}, String(exchange.clientCertificate !== undefined)));
    const socket = await connect(port, 'a.example.com');
    socket.write('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
    expect(await receivedUntil(socket, 'true')).toMatch(/true$/);
    socket.destroy();
  });
});
