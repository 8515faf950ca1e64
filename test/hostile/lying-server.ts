import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { realClock, seededRandom } from '#base';
import { renewedCertificates } from '#cluster';

/** A wrong response of a server that the cluster trusts. `honest` is the right one. */
export type Lie = (exchange: LieExchange) => void | Promise<void>;

export interface LieExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The request body. */
  readonly body: Buffer;
  readonly honest: Buffer;
  /** Aborts when the server closes. */
  readonly signal: AbortSignal;
}

const MEGABYTE = Buffer.alloc(1 << 20, ' ');

/** Faults in HTTP and below, for any server. */
export const TRANSPORT_LIES: Readonly<Record<string, Lie>> = {
  nothing: ({ response }) => void response.end(),
  garbage: ({ response }) => void response.end(Buffer.from(Array.from({ length: 4096 }, (_, i) => (i * 197) & 255))),
  'the beginning of the answer': ({ response, honest }) => void response.end(honest.subarray(0, honest.length >> 1)),
  'a length that is too long': ({ response, honest }) => {
    response.writeHead(200, { 'content-length': honest.length + 1000 });
    response.write(honest, () => response.destroy());
  },
  'a closed connection': ({ response }) => void response.destroy(),
  'bytes that are no HTTP': ({ response }) => void response.socket?.end('SSH-2.0-OpenSSH_9.2\r\n'),
  'chunks that are none': ({ response }) => {
    response.socket?.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nfffffffffffffffff\r\n');
  },
  'an answer without end': async ({ response, signal }) => {
    while (!response.destroyed && !signal.aborted) {
      if (!response.write(MEGABYTE)) await Promise.race([once(response, 'drain', { signal }), once(response, 'close', { signal })]);
    }
  },
  'a slow trickle': async ({ response, signal }) => {
    while (!response.destroyed && !signal.aborted) {
      response.write(' ');
      await realClock.sleep(50, signal);
    }
  },
  'no answer': () => {},
  'a redirect to itself': ({ request, response }) => void response.writeHead(302, { location: request.url ?? '/' }).end(),
  'a redirect elsewhere': ({ response }) => void response.writeHead(307, { location: 'https://127.0.0.1:1/elsewhere' }).end(),
  'compressed blanks that nobody asked for': ({ response }) => {
    response.writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'application/json' });
    response.end(gzipSync(Buffer.alloc(64 << 20, ' ')));
  },
  'long headers': ({ response, honest }) => void response.writeHead(200, { 'x-long': 'a'.repeat(100_000) }).end(honest),
  'an error with a long text': ({ response }) => void response.writeHead(500).end('x'.repeat(4 << 20)),
  'no content': ({ response }) => void response.writeHead(204).end(),
  'a switch of protocols': ({ response }) =>
    void response.socket?.end('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
};

/** Faults in JSON, for any server that sends JSON objects. */
export const JSON_LIES: Readonly<Record<string, Lie>> = {
  null: text('null'),
  'a list': text('[]'),
  'a text': text('"yes"'),
  'an empty object': text('{}'),
  'a list nested too deeply': text('['.repeat(1_000_000)),
  'an object nested too deeply': text('{"response":'.repeat(200_000)),
  'a number of a million digits': text(`{"response":${'9'.repeat(1_000_000)}}`),
  'members called __proto__': text('{"__proto__":{"response":{"allowed":true}},"constructor":{"prototype":{"allowed":true}}}'),
  '200,000 members': text(`{"response":{${Array.from({ length: 200_000 }, (_, i) => `"k${i}":1`).join()}}}`),
  'two documents': ({ response, honest }) => void response.end(Buffer.concat([honest, honest])),
  'bytes that are no UTF-8': ({ response, honest }) => void response.end(Buffer.from(honest.map((byte) => (byte === 0x22 ? 0xff : byte)))),
};

function text(body: string): Lie {
  return ({ response }) => void response.end(body);
}

export interface LyingServer extends AsyncDisposable {
  readonly url: string;
  /** PEM of the CA of its certificate. */
  readonly ca: string;
  /** The fault of the next responses; undefined: none. */
  lie: Lie | undefined;
  /** The number of requests so far. */
  readonly requests: number;
}

/** An HTTPS server on loopback that sends `honest(body)`, or what `lie` makes of it. */
export async function startLyingServer(honest: (body: Buffer) => Buffer | string): Promise<LyingServer> {
  const pki = renewedCertificates({}, { names: { ipAddresses: ['127.0.0.1'] }, now: realClock.now(), random: seededRandom(2) });
  const stop = new AbortController();
  const state = { lie: undefined as Lie | undefined, requests: 0 };
  const server = createServer({ cert: pki.serving.certificate, key: pki.serving.key }, async (request, response) => {
    state.requests++;
    response.on('error', () => {});
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const { lie = ({ response: answer, honest: truth }: LieExchange) => void answer.end(truth) } = state;
    await Promise.resolve(lie({ request, response, body, honest: Buffer.from(honest(body)), signal: stop.signal })).catch(() => {});
  });
  server.on('clientError', (_, socket) => socket.destroy());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return Object.assign(state, {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ca: pki.authority.certificate,
    async [Symbol.asyncDispose]() {
      stop.abort();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}
