import { once } from 'node:events';
import http2, { type ClientHttp2Session, type OutgoingHttpHeaders } from 'node:http2';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { bodyOf, frame, RawClient, type Serve, serveHttp2 } from './http2.test-server.ts';
import { ERROR, FLAG, FRAME } from './protocol.ts';

/** `POST https /` from the static table, to be followed by a body. */
const postHeaders = (streamId: number) => frame(FRAME.HEADERS, FLAG.END_HEADERS, streamId, '\x83\x87\x84');

async function connected(serve: Serve, settings: http2.Settings = {}, maxStreams?: number): Promise<ClientHttp2Session> {
  const port = await serveHttp2(serve, maxStreams);
  const session = http2.connect(`http://127.0.0.1:${port}`, { settings });
  session.on('error', () => {});
  onTestFinished(() => session.destroy());
  return session;
}

async function fetched(session: ClientHttp2Session, headers: OutgoingHttpHeaders, body?: Buffer | string) {
  const stream = session.request(headers, { endStream: body === undefined });
  if (body !== undefined) stream.end(body);
  const [response] = (await once(stream, 'response')) as [Record<string, unknown>];
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return { response, body: Buffer.concat(chunks) };
}

const echo: Serve = async (stream) => {
  const body = await bodyOf(stream);
  stream.respond(200, { 'content-type': 'text/plain', 'content-length': String(body.length) }, body);
};

describe('a client of Node', () => {
  test('gets what the server answers, many times over one connection', async () => {
    const session = await connected((stream) => {
      const { method, path } = stream.headers;
      stream.respond(
        201,
        { 'x-recurring': 'same', 'x-other': ['a', 'b'] },
        Buffer.from(`${method} ${path} ${stream.headers.value('x-a')}`),
      );
    });
    const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => fetched(session, { ':path': `/${i}?x=y`, 'x-a': ['1', '2'] })));
    expect(answers.map(({ body }) => body.toString('latin1'))).toEqual(answers.map((_, i) => `GET /${i}?x=y 1, 2`));
    expect(answers[49]!.response).toMatchObject({ ':status': 201, 'x-recurring': 'same', 'x-other': 'a, b' });
  });

  test.each([0, 1, 16_384, 16_385, 3_000_000])('has a body of %i bytes echoed', async (length) => {
    const session = await connected(echo);
    const body = Buffer.alloc(length, 'abcdefg');
    const answers = await Promise.all([1, 2, 3].map(() => fetched(session, { ':method': 'POST' }, body)));
    for (const answer of answers) expect(answer.body.equals(body)).toBe(true);
  });

  test('gets a response while it is made, as fast as it reads', async () => {
    let written = 0;
    const chunk = Buffer.alloc(64 * 1024, 'x');
    const session = await connected(async (stream) => {
      stream.begin(200, {});
      for (; written < 200 && !stream.isClosed; written++) {
        stream.write(chunk);
        await stream.drained();
      }
      stream.end();
    });
    const stream = session.request({});
    await once(stream, 'response');
    for (let i = 0; i < 20; i++) await setImmediate();
    // The windows of stream and connection, and what the stream of Node holds.
    expect(written).toBeLessThan(20);
    let bytes = 0;
    for await (const part of stream) bytes += (part as Buffer).length;
    expect(bytes).toBe(200 * chunk.length);
  });

  test('may change its window while streams wait for it', async () => {
    const session = await connected((stream) => stream.respond(200, {}, Buffer.alloc(100_000)), { initialWindowSize: 1000 });
    const stream = session.request({});
    await once(stream, 'response');
    session.settings({ initialWindowSize: 1 << 20 });
    let bytes = 0;
    for await (const part of stream) bytes += (part as Buffer).length;
    expect(bytes).toBe(100_000);
  });

  test('may use no header table, or shrink it later', async () => {
    const session = await connected((stream) => stream.respond(200, { 'x-recurring': 'a' }, undefined), { headerTableSize: 0 });
    for (const headerTableSize of [4096, 100, 0, 4096]) {
      for (let i = 0; i < 3; i++) expect((await fetched(session, {})).response).toMatchObject({ 'x-recurring': 'a' });
      await new Promise<void>((resolve) => session.settings({ headerTableSize }, () => resolve()));
    }
  });

  test('gets headers that do not fit into a frame', async () => {
    const long = 'x'.repeat(40_000);
    const session = await connected((stream) => stream.respond(200, { long }, Buffer.from('body')));
    const { response, body } = await fetched(session, {});
    expect([response.long, body.toString()]).toEqual([long, 'body']);
  });

  test('with too many streams has them refused, and is served afterwards', async () => {
    const waiting: (() => void)[] = [];
    const session = await connected(
      (stream) =>
        new Promise<void>((resolve) => {
          waiting.push(() => {
            stream.respond(200, {}, undefined);
            resolve();
          });
        }),
      {},
      2,
    );
    const streams = [1, 2, 3].map(() => session.request({}));
    const [refused] = (await once(streams[2]!, 'error')) as [Error];
    expect(refused.message).toContain('REFUSED_STREAM');
    for (const answer of waiting) answer();
    await Promise.all(streams.slice(0, 2).map((stream) => once(stream.resume(), 'close')));
    const next = fetched(session, {});
    while (waiting.length < 3) await setImmediate();
    waiting[2]!();
    expect((await next).response).toMatchObject({ ':status': 200 });
  });
});

describe('a stream', () => {
  test('that the client cancels closes before its response is complete', async () => {
    let closed: boolean | undefined;
    const session = await connected((stream) => {
      stream.begin(200, {});
      stream.onClose((isComplete) => {
        closed = isComplete;
      });
    });
    const stream = session.request({});
    await once(stream, 'response');
    stream.close();
    while (closed === undefined) await setImmediate();
    expect(closed).toBe(false);
  });

  test('whose response does not wait for its body asks the client to stop when that is large, and the connection stays', async () => {
    const session = await connected((stream) => stream.respond(413, {}, Buffer.from('too large')));
    const upload = session.request({ ':method': 'POST' }, { endStream: false });
    upload.on('error', () => {});
    const closed = once(upload, 'close');
    upload.write(Buffer.alloc(8_000_000));
    const [response] = (await once(upload, 'response')) as [Record<string, unknown>];
    expect(response[':status']).toBe(413);
    upload.resume();
    await closed;
    expect(upload.rstCode).toBe(ERROR.NO_ERROR);
    expect((await fetched(session, {})).body.toString()).toBe('too large');
  });

  test('whose response does not wait for its body is not reset while the client sends the rest', async () => {
    const client = await RawClient.connect(await serveHttp2((stream) => stream.respond(413, {}, Buffer.from('too large'))));
    const part = frame(FRAME.DATA, 0, 1, Buffer.alloc(16_384));
    client.send(postHeaders(1));
    await client.until(({ type, flags }) => type === FRAME.DATA && (flags & FLAG.END_STREAM) !== 0);
    for (let i = 0; i < 200; i++) client.send(part);
    client.send(frame(FRAME.DATA, FLAG.END_STREAM, 1), frame(FRAME.PING, 0, 0, '12345678'));
    await client.until(({ type }) => type === FRAME.PING);
    expect(client.received.filter(({ type }) => type === FRAME.RST_STREAM)).toEqual([]);
  });

  test('whose response does not wait for its body is reset when the rest does not come', async () => {
    const client = await RawClient.connect(await serveHttp2((stream) => stream.respond(413, {}, Buffer.from('too large'))));
    client.send(postHeaders(1), frame(FRAME.DATA, 0, 1, 'a part'), postHeaders(3));
    expect(await client.resetOf(1)).toBe(ERROR.NO_ERROR);
    expect(await client.resetOf(3)).toBe(ERROR.NO_ERROR);
  });

  test('of many whose responses do not wait for their bodies is reset', async () => {
    const client = await RawClient.connect(await serveHttp2((stream) => stream.respond(413, {}, Buffer.from('too large')), 1000));
    for (let i = 0; i < 101; i++) client.send(postHeaders(2 * i + 1));
    expect(await client.resetOf(201)).toBe(ERROR.NO_ERROR);
    expect(client.received.filter(({ type }) => type === FRAME.RST_STREAM)).toHaveLength(1);
  });

  test('whose body nobody reads holds up its client only', async () => {
    const session = await connected((stream) => {
      if (stream.headers.method === 'GET') stream.respond(200, {}, undefined);
    });
    const upload = session.request({ ':method': 'POST' }, { endStream: false });
    upload.on('error', () => {});
    for (let i = 0; i < 64; i++) upload.write(Buffer.alloc(64 * 1024));
    expect((await fetched(session, {})).response).toMatchObject({ ':status': 200 });
    expect(upload.writableLength).toBeGreaterThan(2 << 20);
  });
});

describe('a connection that is closed', () => {
  test('finishes what was asked before, and takes nothing more', async () => {
    let answer: () => void = () => {};
    const session = await connected((stream, connection) => {
      connection.close();
      answer = () => stream.respond(200, {}, Buffer.from('late'));
    });
    const response = fetched(session, {});
    await once(session, 'goaway');
    answer();
    expect((await response).body.toString()).toBe('late');
    await once(session, 'close');
  });

  test('closes streams that are not answered when the client goes', async () => {
    let closed: boolean | undefined;
    const session = await connected((stream) => {
      stream.onClose((isComplete) => {
        closed = isComplete;
      });
      session.destroy();
    });
    session.request({}).on('error', () => {});
    while (closed === undefined) await setImmediate();
    expect(closed).toBe(false);
  });
});
