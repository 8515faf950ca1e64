import { once } from 'node:events';
import { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { frame, RawClient, serveHttp2 } from './http2.test-server.ts';
import { Http2Server } from './http2-server.ts';
import { CLIENT_PREFACE, ERROR, FLAG, FRAME } from './protocol.ts';

const { END_STREAM, END_HEADERS, PADDED } = FLAG;
/** `GET https /` of the static table. */
const REQUEST = '\x82\x87\x84';
const request = (streamId: number, flags: number = END_STREAM) => frame(FRAME.HEADERS, flags | END_HEADERS, streamId, REQUEST);
const uint32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const setting = (id: number, value: number) => Buffer.concat([Buffer.from([0, id]), uint32(value)]);
const repeated = (count: number, part: Buffer) => Buffer.concat(Array(count).fill(part));
const literal = (name: string, value: string) =>
  `\x00${String.fromCharCode(name.length)}${name}${String.fromCharCode(value.length)}${value}`;

/** A server that never answers, so that streams stay open. */
const silent = () => serveHttp2(() => {});
const answering = () => serveHttp2((stream) => stream.respond(200, {}, Buffer.alloc(1000)));

describe('the connection ends', () => {
  it.each<[string, number, readonly Buffer[]]>([
    ['a frame longer than 16 KiB', ERROR.FRAME_SIZE_ERROR, [frame(FRAME.DATA, 0, 1, Buffer.alloc(16_385))]],
    ['data of the connection', ERROR.PROTOCOL_ERROR, [frame(FRAME.DATA, 0, 0, 'x')]],
    ['data of a stream that was not opened', ERROR.PROTOCOL_ERROR, [frame(FRAME.DATA, 0, 5, 'x')]],
    ['padding longer than its frame', ERROR.PROTOCOL_ERROR, [request(1, 0), frame(FRAME.DATA, PADDED, 1, '\x05abc')]],
    ['headers of the connection', ERROR.PROTOCOL_ERROR, [frame(FRAME.HEADERS, END_HEADERS, 0, REQUEST)]],
    ['headers of an even stream', ERROR.PROTOCOL_ERROR, [request(2)]],
    ['headers shorter than their priority', ERROR.PROTOCOL_ERROR, [frame(FRAME.HEADERS, END_HEADERS | FLAG.PRIORITY, 1, 'abc')]],
    ['headers that cannot be decoded', ERROR.COMPRESSION_ERROR, [frame(FRAME.HEADERS, END_HEADERS, 1, '\xff\xff')]],
    ['a continuation of nothing', ERROR.PROTOCOL_ERROR, [frame(FRAME.CONTINUATION, END_HEADERS, 1, REQUEST)]],
    [
      'a header block that is interrupted',
      ERROR.PROTOCOL_ERROR,
      [frame(FRAME.HEADERS, 0, 1, REQUEST), frame(FRAME.PING, 0, 0, '12345678')],
    ],
    [
      'a header block that another stream continues',
      ERROR.PROTOCOL_ERROR,
      [frame(FRAME.HEADERS, 0, 1, REQUEST), frame(FRAME.CONTINUATION, 0, 3)],
    ],
    ['a ping of seven bytes', ERROR.FRAME_SIZE_ERROR, [frame(FRAME.PING, 0, 0, '1234567')]],
    ['a ping of a stream', ERROR.PROTOCOL_ERROR, [frame(FRAME.PING, 0, 1, '12345678')]],
    ['settings of a stream', ERROR.PROTOCOL_ERROR, [frame(FRAME.SETTINGS, 0, 1)]],
    ['settings of five bytes', ERROR.FRAME_SIZE_ERROR, [frame(FRAME.SETTINGS, 0, 0, '12345')]],
    ['settings acknowledged with content', ERROR.FRAME_SIZE_ERROR, [frame(FRAME.SETTINGS, FLAG.ACK, 0, '123456')]],
    ['an initial window beyond the limit', ERROR.FLOW_CONTROL_ERROR, [frame(FRAME.SETTINGS, 0, 0, setting(4, 2 ** 31))]],
    ['a frame size below the limit', ERROR.PROTOCOL_ERROR, [frame(FRAME.SETTINGS, 0, 0, setting(5, 100))]],
    ['a push setting of 2', ERROR.PROTOCOL_ERROR, [frame(FRAME.SETTINGS, 0, 0, setting(2, 2))]],
    ['a pushed request', ERROR.PROTOCOL_ERROR, [frame(FRAME.PUSH_PROMISE, END_HEADERS, 1, '\0\0\0\x02\x82')]],
    ['a window that grows by nothing', ERROR.PROTOCOL_ERROR, [frame(FRAME.WINDOW_UPDATE, 0, 0, uint32(0))]],
    ['a window beyond the limit', ERROR.FLOW_CONTROL_ERROR, [frame(FRAME.WINDOW_UPDATE, 0, 0, uint32(2 ** 31 - 1))]],
    ['a window update of five bytes', ERROR.FRAME_SIZE_ERROR, [frame(FRAME.WINDOW_UPDATE, 0, 0, '12345')]],
    ['a window update of a stream that was not opened', ERROR.PROTOCOL_ERROR, [frame(FRAME.WINDOW_UPDATE, 0, 7, uint32(1))]],
    ['a reset of a stream that was not opened', ERROR.PROTOCOL_ERROR, [frame(FRAME.RST_STREAM, 0, 3, uint32(8))]],
    ['a reset of three bytes', ERROR.FRAME_SIZE_ERROR, [request(1), frame(FRAME.RST_STREAM, 0, 1, 'abc')]],
    ['a priority of the connection', ERROR.PROTOCOL_ERROR, [frame(FRAME.PRIORITY, 0, 0, '12345')]],
    ['a priority of four bytes', ERROR.FRAME_SIZE_ERROR, [request(1), frame(FRAME.PRIORITY, 0, 1, '1234')]],
    ['a GOAWAY of a stream', ERROR.PROTOCOL_ERROR, [frame(FRAME.GOAWAY, 0, 1, '12345678')]],
    ['more pings than a client needs', ERROR.ENHANCE_YOUR_CALM, [repeated(12_000, frame(FRAME.PING, 0, 0, '12345678'))]],
    ['more settings than a client needs', ERROR.ENHANCE_YOUR_CALM, [repeated(12_000, frame(FRAME.SETTINGS, 0, 0))]],
    ['more priorities than a client needs', ERROR.ENHANCE_YOUR_CALM, [repeated(12_000, frame(FRAME.PRIORITY, 0, 1, '12345'))]],
    ['many frames of unknown types', ERROR.ENHANCE_YOUR_CALM, [repeated(12_000, frame(0xee, 0, 0))]],
    ['much data without content', ERROR.ENHANCE_YOUR_CALM, [request(1, 0), repeated(12_000, frame(FRAME.DATA, 0, 1))]],
    [
      'a header block of many frames',
      ERROR.ENHANCE_YOUR_CALM,
      [frame(FRAME.HEADERS, 0, 1), repeated(100, frame(FRAME.CONTINUATION, 0, 1))],
    ],
    [
      'a header block without end',
      ERROR.ENHANCE_YOUR_CALM,
      [frame(FRAME.HEADERS, 0, 1), repeated(10, frame(FRAME.CONTINUATION, 0, 1, Buffer.alloc(16_000)))],
    ],
    [
      'thousands of requests that are cancelled at once',
      ERROR.ENHANCE_YOUR_CALM,
      [
        Buffer.concat(
          Array.from({ length: 1100 }, (_, i) => [request(2 * i + 1), frame(FRAME.RST_STREAM, 0, 2 * i + 1, uint32(8))]).flat(),
        ),
      ],
    ],
    [
      'more data than the window of the connection',
      ERROR.FLOW_CONTROL_ERROR,
      Array.from({ length: 20 }, (_, i) => [
        request(2 * i + 1, 0),
        repeated(64, frame(FRAME.DATA, 0, 2 * i + 1, Buffer.alloc(16_384))),
      ]).flat(),
    ],
  ])('for %s, with error %i', async (_what, code, frames) => {
    const client = await RawClient.connect(await silent());
    client.send(...frames);
    expect(await client.goneAway()).toBe(code);
  });

  it('for what is no preface', async () => {
    const client = await RawClient.connect(await silent(), Buffer.from('GET / HTTP/1.1\r\nhost: a\r\n\r\n'));
    expect(await client.goneAway()).toBe(ERROR.PROTOCOL_ERROR);
  });

  it('when the client leaves, after what it had asked is answered', async () => {
    const client = await RawClient.connect(await answering());
    client.send(request(1), frame(FRAME.GOAWAY, 0, 0, Buffer.alloc(8)));
    expect(await client.goneAway()).toBe(ERROR.NO_ERROR);
    expect(client.received.some(({ type, flags }) => type === FRAME.DATA && (flags & END_STREAM) !== 0)).toBe(true);
  });
});

describe('the stream is reset, and the connection stays,', () => {
  const fields = (...parts: readonly string[]) => [frame(FRAME.HEADERS, END_HEADERS | END_STREAM, 1, parts.join(''))];
  it.each<[string, number, readonly Buffer[]]>([
    ['for a request without a method', ERROR.PROTOCOL_ERROR, fields('\x87\x84')],
    ['for a request without a path', ERROR.PROTOCOL_ERROR, fields('\x82\x87')],
    ['for a request without a scheme', ERROR.PROTOCOL_ERROR, fields('\x82\x84')],
    ['for a path without a slash', ERROR.PROTOCOL_ERROR, fields('\x82\x87', literal(':path', 'a'))],
    ['for two methods', ERROR.PROTOCOL_ERROR, fields('\x82\x83\x87\x84')],
    ['for an unknown pseudo-header field', ERROR.PROTOCOL_ERROR, fields(REQUEST, literal(':protocol', 'x'))],
    ['for a pseudo-header field after others', ERROR.PROTOCOL_ERROR, fields('\x82\x87', literal('a', 'b'), '\x84')],
    ['for the status of a response', ERROR.PROTOCOL_ERROR, fields(REQUEST, '\x88')],
    ['for a name in upper case', ERROR.PROTOCOL_ERROR, fields(REQUEST, literal('Accept', 'x'))],
    ['for an empty name', ERROR.PROTOCOL_ERROR, fields(REQUEST, literal('', 'x'))],
    ['for a line break in a value', ERROR.PROTOCOL_ERROR, fields(REQUEST, literal('a', 'x\r\ny'))],
    ['for the Connection header', ERROR.PROTOCOL_ERROR, fields(REQUEST, literal('connection', 'close'))],
    ['for Transfer-Encoding', ERROR.PROTOCOL_ERROR, fields(REQUEST, literal('transfer-encoding', 'chunked'))],
    ['for TE other than trailers', ERROR.PROTOCOL_ERROR, fields(REQUEST, literal('te', 'gzip'))],
    ['for a length that is no number', ERROR.PROTOCOL_ERROR, fields(REQUEST, literal('content-length', '1e3'))],
    ['for two lengths', ERROR.PROTOCOL_ERROR, fields(REQUEST, literal('content-length', '0'), literal('content-length', '1'))],
    ['for a length without a body', ERROR.PROTOCOL_ERROR, fields(REQUEST, literal('content-length', '3'))],
    ['for headers beyond the limit', ERROR.ENHANCE_YOUR_CALM, fields(REQUEST, ...Array(3000).fill(literal('a', '')))],
    [
      'for a body of another length',
      ERROR.PROTOCOL_ERROR,
      [frame(FRAME.HEADERS, END_HEADERS, 1, REQUEST + literal('content-length', '3')), frame(FRAME.DATA, END_STREAM, 1, 'ab')],
    ],
    ['for trailers that do not end it', ERROR.PROTOCOL_ERROR, [request(1, 0), frame(FRAME.HEADERS, END_HEADERS, 1, literal('a', 'b'))]],
    ['for trailers with a method', ERROR.PROTOCOL_ERROR, [request(1, 0), request(1)]],
    ['for data after its end', ERROR.STREAM_CLOSED, [request(1), frame(FRAME.DATA, 0, 1, 'x')]],
    ['for headers after its end', ERROR.STREAM_CLOSED, [request(1), request(1)]],
    ['for a window that grows by nothing', ERROR.PROTOCOL_ERROR, [request(1), frame(FRAME.WINDOW_UPDATE, 0, 1, uint32(0))]],
    ['for a window beyond the limit', ERROR.FLOW_CONTROL_ERROR, [request(1), frame(FRAME.WINDOW_UPDATE, 0, 1, uint32(2 ** 31 - 1))]],
    [
      'for more data than its window',
      ERROR.FLOW_CONTROL_ERROR,
      [request(1, 0), repeated(65, frame(FRAME.DATA, 0, 1, Buffer.alloc(16_384)))],
    ],
  ])('%s', async (_what, code, frames) => {
    const client = await RawClient.connect(await silent());
    client.send(...frames);
    expect(await client.resetOf(1)).toBe(code);
    client.send(frame(FRAME.PING, 0, 0, 'still on'));
    await client.until(({ type, payload }) => type === FRAME.PING && payload.toString() === 'still on');
  });
});

describe('what is unusual but allowed', () => {
  it.each<[string, readonly Buffer[]]>([
    [
      'padding and a priority',
      [frame(FRAME.HEADERS, END_STREAM | END_HEADERS | PADDED | FLAG.PRIORITY, 1, `\x02\0\0\0\0\x10${REQUEST}\0\0`)],
    ],
    [
      'headers in many frames',
      [
        frame(FRAME.HEADERS, END_STREAM, 1, '\x82'),
        frame(FRAME.CONTINUATION, 0, 1, '\x87'),
        frame(FRAME.CONTINUATION, END_HEADERS, 1, '\x84'),
      ],
    ],
    [
      'trailers',
      [request(1, 0), frame(FRAME.DATA, PADDED, 1, '\x03ab\0\0\0'), frame(FRAME.HEADERS, END_HEADERS | END_STREAM, 1, literal('a', 'b'))],
    ],
    ['a frame of an unknown type', [frame(0xee, 0xff, 9, 'anything'), request(1)]],
    ['a setting that we do not know', [frame(FRAME.SETTINGS, 0, 0, setting(0x99, 7)), request(1)]],
    ['a stream that skips identifiers', [request(101)]],
  ])('%s', async (_what, frames) => {
    const client = await RawClient.connect(await answering());
    client.send(...frames);
    await client.until(({ type, flags }) => type === FRAME.DATA && (flags & END_STREAM) !== 0);
  });

  it('a connection that comes byte by byte', async () => {
    const client = await RawClient.connect(await answering());
    for (const byte of request(1)) {
      client.send(Buffer.from([byte]));
      await setImmediate();
    }
    await client.until(({ type }) => type === FRAME.DATA);
  });
});

test('the server stops reading from a client that sends requests and never reads', async () => {
  let requests = 0;
  const port = await serveHttp2((stream) => {
    requests++;
    stream.respond(404, { 'x-long': 'x'.repeat(10_000) }, undefined);
  });
  const client = await RawClient.connect(port);
  client.socket.pause();
  let sent = 0;
  for (let isTaken = true; isTaken && sent < 1_000_000; ) {
    const from = sent;
    sent += 1000;
    isTaken = client.socket.write(Buffer.concat(Array.from({ length: 1000 }, (_, i) => request(2 * (from + i) + 1))));
    for (let i = 0; i < 5; i++) await setImmediate();
  }
  const before = requests;
  for (let i = 0; i < 50; i++) await setImmediate();
  expect(requests).toBe(before);
  expect(requests).toBeLessThan(sent);
});

test('responses that the client does not read count as open streams', async () => {
  let requests = 0;
  const port = await serveHttp2((stream) => {
    requests++;
    stream.respond(200, {}, Buffer.alloc(1000));
  }, 10);
  const client = await RawClient.connect(port, Buffer.concat([CLIENT_PREFACE, frame(FRAME.SETTINGS, 0, 0, setting(4, 0))]));
  client.send(...Array.from({ length: 10 }, (_, i) => request(2 * i + 1)));
  await client.until(({ type, streamId }) => type === FRAME.HEADERS && streamId === 19);
  client.send(request(21));
  expect(await client.resetOf(21)).toBe(ERROR.REFUSED_STREAM);
  expect(requests).toBe(10);
  client.send(frame(FRAME.WINDOW_UPDATE, 0, 1, uint32(1000)));
  await client.until(({ type, flags }) => type === FRAME.DATA && (flags & END_STREAM) !== 0);
  client.send(request(23));
  await client.until(({ type, streamId }) => type === FRAME.HEADERS && streamId === 23);
});

test('what a client sends on new streams after our GOAWAY is ignored, and the others are answered', async () => {
  let answer = () => {};
  const port = await serveHttp2((stream, connection) => {
    connection.close();
    answer = () => stream.respond(200, {}, Buffer.from('an answer'));
  });
  const client = await RawClient.connect(port);
  client.send(request(1));
  await client.until(({ type }) => type === FRAME.GOAWAY);
  const cancel = frame(FRAME.RST_STREAM, 0, 3, uint32(8));
  client.send(request(3, 0), frame(FRAME.WINDOW_UPDATE, 0, 3, uint32(1)), frame(FRAME.DATA, 0, 3, 'abc'), cancel);
  client.send(frame(FRAME.PING, 0, 0, 'all read'));
  await client.until(({ type, payload }) => type === FRAME.PING && payload.toString() === 'all read');
  answer();
  expect((await client.until(({ type }) => type === FRAME.DATA)).payload.toString()).toBe('an answer');
});

test('a connection that violates the protocol closes even if its client does not read', async () => {
  const http2 = new Http2Server({ maxConcurrentStreams: 1, recurringFields: [], onStream: () => {} });
  const socket = new Duplex({ read: () => {}, write: () => {} });
  http2.serve(socket);
  socket.push(Buffer.concat([CLIENT_PREFACE, frame(FRAME.SETTINGS, 0, 0)]));
  await setImmediate();
  socket.push(frame(FRAME.DATA, 0, 0, 'x'));
  await once(socket, 'close');
});

test('a header that is inserted once and repeated thousands of times costs no memory', async () => {
  let fields = 0;
  const port = await serveHttp2((stream) => {
    fields = stream.headers.fields.length;
    stream.respond(200, {}, undefined);
  });
  const client = await RawClient.connect(port);
  const inserted = `\x40\x01a\x7f\x81\x1e${'v'.repeat(4000)}`;
  client.send(frame(FRAME.HEADERS, END_HEADERS | END_STREAM, 1, `${REQUEST}${inserted}${'\xbe'.repeat(10_000)}`));
  expect(await client.resetOf(1)).toBe(ERROR.ENHANCE_YOUR_CALM);
  client.send(frame(FRAME.HEADERS, END_HEADERS | END_STREAM, 3, `${REQUEST}\xbe`));
  await client.until(({ type, streamId }) => type === FRAME.HEADERS && streamId === 3);
  expect(fields).toBe(4);
});

test('random frames end in an answer or an error, and the server goes on', async () => {
  const port = await answering();
  const anyFrame = fc
    .tuple(fc.integer({ min: 0, max: 10 }), fc.nat(0xff), fc.integer({ min: 0, max: 7 }), fc.uint8Array({ maxLength: 40 }))
    .map(([type, flags, streamId, payload]) => frame(type, flags, streamId, payload));
  const usual = fc.constantFrom(request(1), request(3, 0), request(5), frame(FRAME.DATA, 0, 3, 'abc'), frame(FRAME.SETTINGS, 0, 0));
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(anyFrame, usual), { maxLength: 20 }), async (frames) => {
      const client = await RawClient.connect(port, CLIENT_PREFACE);
      client.send(...frames);
      client.socket.end();
      await new Promise<void>((resolve) => client.socket.once('close', () => resolve()));
    }),
    { numRuns: 200 },
  );
  const client = await RawClient.connect(port);
  client.send(request(1));
  await client.until(({ type }) => type === FRAME.DATA);
});
