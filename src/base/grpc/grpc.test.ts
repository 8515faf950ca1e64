import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { constants, createServer, type ServerHttp2Stream } from 'node:http2';
import { createServer as createTcpServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { realClock } from '../time/clock.ts';
import { VirtualClock } from '../time/virtual-clock.ts';
import { GrpcClient } from './grpc-client.ts';
import { GrpcError, grpcStatus } from './grpc-error.ts';
import { GrpcServer, type MethodEntry, streamingMethod, unaryMethod } from './grpc-server.ts';
import { field, message } from './message-table.ts';
import { Inbox } from './receive.ts';

const Text = message({ text: field(1, 'string') });
const Count = message({ count: field(1, 'int64') });
const echo = { name: 'test.Echo/Say', request: Text, response: Text };
const countUp = { name: 'test.Echo/Count', request: Count, response: Count };

let directory: string;
let open: (Disposable | AsyncDisposable)[] = [];

beforeEach(async () => {
  directory = await mkdtemp(path.join(os.tmpdir(), 'grpc-'));
});

afterEach(async () => {
  for (const resource of open.toReversed()) {
    if (Symbol.asyncDispose in resource) await resource[Symbol.asyncDispose]();
    else resource[Symbol.dispose]();
  }
  open = [];
  await rm(directory, { recursive: true, force: true });
});

async function serve(methods: readonly MethodEntry[], maxMessageBytes?: number): Promise<GrpcServer> {
  const endpoint = `unix://${directory}/server.sock`;
  const server = await GrpcServer.start({ endpoint, methods, ...(maxMessageBytes !== undefined && { maxMessageBytes }) });
  open.push(server);
  return server;
}

function connect(endpoint = `unix://${directory}/server.sock`, options: { maxMessageBytes?: number } = {}): GrpcClient {
  const client = new GrpcClient({ endpoint, clock: realClock, ...options });
  open.push(client);
  return client;
}

function gate(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((open) => {
    resolve = open;
  });
  return { promise, resolve };
}

const LONG = { timeoutMs: 30_000 };

describe('a client and a server on a unix socket', () => {
  test('exchange one message each', async () => {
    await serve([unaryMethod(echo, ({ text }) => ({ text: `${text}!` }))]);
    expect(await connect().unary(echo, { text: 'hello' }, LONG)).toEqual({ text: 'hello!' });
  });

  test('share one connection for many calls at once', async () => {
    await serve([unaryMethod(echo, ({ text }) => ({ text }))]);
    const client = connect();
    const texts = Array.from({ length: 200 }, (_, i) => `call ${i}`);
    const responses = await Promise.all(texts.map((text) => client.unary(echo, { text }, LONG)));
    expect(responses.map(({ text }) => text)).toEqual(texts);
  });

  test('stream many responses to one request', async () => {
    await serve([
      streamingMethod(countUp, async function* ({ count }) {
        for (let i = 1; i <= count; i++) yield { count: i };
      }),
    ]);
    const counts: number[] = [];
    for await (const { count } of connect().serverStream(countUp, { count: 1000 })) counts.push(count);
    expect(counts).toEqual(Array.from({ length: 1000 }, (_, i) => i + 1));
  });

  test('stream in both directions, and wait for a slow reader', async () => {
    await serve([
      {
        name: 'test.Echo/Chat',
        async *handle(requests) {
          for await (const request of requests) yield request;
        },
      },
    ]);
    const inbox = new Inbox();
    const stream = connect().stream('test.Echo/Chat', { handler: inbox });
    inbox.stream = stream;
    const block = Buffer.alloc(256 << 10, 7);
    void (async () => {
      for (let i = 0; i < 100; i++) {
        stream.send(block);
        await stream.drained();
      }
      stream.finish();
    })();
    let bytes = 0;
    for await (const response of inbox.messages()) bytes += response.length;
    expect(bytes).toBe(100 * block.length);
  });

  test('an error keeps its status and its message, whatever characters are in it', async () => {
    const text = 'no such container “ä”: 100 %\nreally';
    await serve([
      unaryMethod(echo, () => {
        throw new GrpcError(grpcStatus.notFound, text);
      }),
    ]);
    await expect(connect().unary(echo, {}, LONG)).rejects.toMatchObject({ status: grpcStatus.notFound, message: text });
  });

  test('an error whose message no trailer can carry ends the call, and the server goes on', async () => {
    const text = `half a \ud83d pair ${'x'.repeat(100_000)}`;
    await serve([
      unaryMethod(echo, () => {
        throw new Error(text);
      }),
    ]);
    const client = connect();
    for (let i = 0; i < 2; i++) await expect(client.unary(echo, { text: '' }, LONG)).rejects.toMatchObject({ status: grpcStatus.unknown });
  });

  test('an error in the middle of a stream comes after the messages before it', async () => {
    await serve([
      streamingMethod(countUp, async function* () {
        yield { count: 1 };
        throw new Error('boom');
      }),
    ]);
    const seen: number[] = [];
    const read = async () => {
      for await (const { count } of connect().serverStream(countUp, {})) seen.push(count);
    };
    await expect(read()).rejects.toMatchObject({ status: grpcStatus.unknown, message: 'boom' });
    expect(seen).toEqual([1]);
  });

  test('a method that the server does not have is unimplemented', async () => {
    await serve([]);
    await expect(connect().unary(echo, {}, LONG)).rejects.toMatchObject({
      status: grpcStatus.unimplemented,
      message: 'unknown method Say for service test.Echo',
    });
  });

  test('a call ends with its deadline, and the server sees that', async () => {
    const clock = new VirtualClock();
    let closed: Promise<void> | undefined;
    const called = gate();
    await serve([
      unaryMethod(echo, (_, { signal, headers }) => {
        expect(headers['grpc-timeout']).toBe('5000m');
        closed = new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
        called.resolve();
        return closed.then(() => ({}));
      }),
    ]);
    using client = new GrpcClient({ endpoint: `unix://${directory}/server.sock`, clock });
    const call = client.unary(echo, {}, { timeoutMs: 5_000 });
    const outcome = expect(call).rejects.toMatchObject({ status: grpcStatus.deadlineExceeded });
    await called.promise;
    await clock.advance(5_000);
    await outcome;
    await closed;
  });

  test('a call that is aborted rejects with the reason, and the server sees that', async () => {
    let closed: Promise<void> | undefined;
    const called = gate();
    await serve([
      streamingMethod(countUp, async function* (_, { signal }) {
        closed = new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
        yield { count: 1 };
        called.resolve();
        await closed;
      }),
    ]);
    const abort = new AbortController();
    const read = async () => {
      for await (const _ of connect().serverStream(countUp, {}, { signal: abort.signal }));
    };
    const outcome = expect(read()).rejects.toThrow('enough');
    await called.promise;
    abort.abort(new Error('enough'));
    await outcome;
    await closed;
  });

  test('a reader that stops early cancels the call', async () => {
    let closed: Promise<void> | undefined;
    await serve([
      streamingMethod(countUp, async function* (_, { signal }) {
        closed = new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
        for (let count = 1; !signal.aborted; count++) yield { count };
      }),
    ]);
    for await (const { count } of connect().serverStream(countUp, {})) if (count === 3) break;
    await closed;
  });

  test('a message over the limit is an error on either side', async () => {
    await serve([unaryMethod(echo, ({ text }) => ({ text: text.repeat(100) }))], 1 << 10);
    await expect(connect().unary(echo, { text: 'x'.repeat(2 << 10) }, LONG)).rejects.toMatchObject({
      status: grpcStatus.resourceExhausted,
      message: 'received message larger than max (2051 vs. 1024)',
    });
    const small = connect(undefined, { maxMessageBytes: 100 });
    await expect(small.unary(echo, { text: '12345' }, LONG)).rejects.toMatchObject({
      status: grpcStatus.resourceExhausted,
      message: 'received message larger than max (503 vs. 100)',
    });
    await expect(small.unary(echo, { text: 'x'.repeat(200) }, LONG)).rejects.toMatchObject({ status: grpcStatus.resourceExhausted });
  });
});

describe('a client whose server', () => {
  test('is not there fails with unavailable, and reaches it once it is', async () => {
    const clock = new VirtualClock();
    using client = new GrpcClient({ endpoint: `unix://${directory}/server.sock`, clock });
    await expect(client.unary(echo, {}, LONG)).rejects.toMatchObject({ status: grpcStatus.unavailable, untouched: true });
    await serve([unaryMethod(echo, () => ({ text: 'here' }))]);
    await expect(client.unary(echo, {}, LONG)).rejects.toThrow('can not be reached: connect ENOENT');
    await clock.advance(3_000);
    expect(await client.unary(echo, {}, LONG)).toEqual({ text: 'here' });
  });

  test('is restarted goes on with the new one', async () => {
    const first = await serve([unaryMethod(echo, () => ({ text: 'first' }))]);
    const client = connect();
    expect(await client.unary(echo, {}, LONG)).toEqual({ text: 'first' });
    await first[Symbol.asyncDispose]();
    open = open.filter((resource) => resource !== first);
    await serve([unaryMethod(echo, () => ({ text: 'second' }))]);
    expect(await client.unary(echo, {}, LONG)).toEqual({ text: 'second' });
  });

  test('dies during a call fails it with unavailable', async () => {
    const called = gate();
    const server = await serve([
      unaryMethod(echo, (_, { signal }) => {
        called.resolve();
        return new Promise((resolve) => signal.addEventListener('abort', () => resolve({})));
      }),
    ]);
    const outcome = expect(connect().unary(echo, {}, LONG)).rejects.toMatchObject({ status: grpcStatus.unavailable, untouched: false });
    await called.promise;
    await server[Symbol.asyncDispose]();
    open = open.filter((resource) => resource !== server);
    await outcome;
  });

  test('is no gRPC server gets an error that says so', async () => {
    const server = createServer((_, response) => response.writeHead(503, { 'content-type': 'text/html' }).end('<h1>busy</h1>'));
    await new Promise<void>((resolve) => server.listen(`${directory}/server.sock`, resolve));
    using client = connect();
    await expect(client.unary(echo, {}, LONG)).rejects.toMatchObject({
      status: grpcStatus.unavailable,
      message: 'not a gRPC response: HTTP status 503, text/html',
    });
    client.close();
    await new Promise((resolve) => server.close(resolve));
  });

  test('takes no more calls on a connection is reached on another one', async () => {
    const server = createServer();
    let sessions = 0;
    server.on('session', (session) => {
      const isExhausted = ++sessions === 1;
      session.on('stream', (stream: ServerHttp2Stream) => {
        stream.on('error', () => {});
        if (isExhausted) stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
        else stream.respond({ ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '5' }, { endStream: true });
      });
    });
    await new Promise<void>((resolve) => server.listen(`${directory}/server.sock`, resolve));
    using client = connect();
    await expect(client.unary(echo, {}, LONG)).rejects.toMatchObject({ status: grpcStatus.unavailable });
    await expect(client.unary(echo, {}, LONG)).rejects.toMatchObject({ status: grpcStatus.notFound });
    client.close();
    await new Promise((resolve) => server.close(resolve));
  });

  test('speaks no HTTP/2 fails with unavailable', async () => {
    const server = createTcpServer((socket) => socket.resume().end('SSH-2.0-OpenSSH\r\n'));
    await new Promise<void>((resolve) => server.listen(`${directory}/server.sock`, resolve));
    await expect(connect().unary(echo, {}, LONG)).rejects.toMatchObject({ status: grpcStatus.unavailable });
    await new Promise((resolve) => server.close(resolve));
  });

  test.each([
    ['a compressed message', Buffer.from([1, 0, 0, 0, 0]), grpcStatus.internal, 'malformed frame: compression flag 1'],
    [
      'a length beyond the limit',
      Buffer.from([0, 0xff, 0xff, 0xff, 0xff]),
      grpcStatus.resourceExhausted,
      'received message larger than max',
    ],
    ['half a message', Buffer.from([0, 0, 0, 0, 9, 1]), grpcStatus.internal, 'the last message is cut off'],
    ['bytes that are no message', Buffer.from([0, 0, 0, 0, 2, 0x0a, 9]), grpcStatus.internal, 'malformed message'],
    ['two responses', Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 0]), grpcStatus.internal, 'several responses'],
    ['no response', Buffer.alloc(0), grpcStatus.internal, 'the server sent no response'],
  ])('sends %s fails the call', async (_, bytes, status, text) => {
    const server = createServer();
    server.on('stream', (stream: ServerHttp2Stream) => {
      stream.on('error', () => {});
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      stream.end(bytes);
    });
    await new Promise<void>((resolve) => server.listen(`${directory}/server.sock`, resolve));
    using client = connect();
    const error = await client.unary(echo, {}, LONG).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(GrpcError);
    expect(error).toMatchObject({ status, message: expect.stringContaining(text) });
    client.close();
    await new Promise((resolve) => server.close(resolve));
  });
});

test('a server replaces a socket that an earlier one left behind, and no other file', async () => {
  await writeFile(`${directory}/server.sock`, 'important');
  await expect(serve([])).rejects.toThrow('EADDRINUSE');
});
