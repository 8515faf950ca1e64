import { randomBytes } from 'node:crypto';
import { type Duplex, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { deflateSync, constants as zlib } from 'node:zlib';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { duplexPair } from '../async/duplex-pair.ts';
import { DataSender } from './data-sender.ts';
import { controlFrame, dataHeader, FLAG_FIN, FRAME, initialWindowFrame, numbersFrame, synStreamFrame } from './frames.ts';
import { HeaderReader, HeaderWriter } from './header-block.ts';
import { HEADER_DICTIONARY } from './header-dictionary.ts';
import { SpdyConnection } from './spdy-connection.ts';
import { SpdyError, StreamResetError } from './spdy-error.ts';
import type { SpdyOptions } from './spdy-options.ts';
import type { SpdyStream } from './spdy-stream.ts';

const HEADERS = new Map([['streamtype', 'stdin']]);

function connect(onStream: (stream: SpdyStream) => void, overrides: Partial<SpdyOptions> = {}) {
  const { near, far } = duplexPair();
  const server = new SpdyConnection(far, { role: 'server', onStream, ...overrides });
  const client = new SpdyConnection(near, { role: 'client' });
  return { client, server, near, far };
}

/** A server whose peer is this test itself, speaking bytes. */
function rawPeer(onStream: (stream: SpdyStream) => void = (stream) => stream.reply()) {
  const { near, far } = duplexPair();
  const server = new SpdyConnection(far, { role: 'server', onStream });
  return { server, peer: near };
}

function synStream(id: number, writer = new HeaderWriter()): Buffer {
  return synStreamFrame(id, 0, writer.write(HEADERS));
}

async function bytesOf(peer: Duplex): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of peer) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

describe('header blocks', () => {
  it('are read as they were written, one after the other', () => {
    const [writer, reader] = [new HeaderWriter(), new HeaderReader()];
    for (let i = 0; i < 100; i++) {
      const headers = new Map([
        ['streamtype', `kind-${i}`],
        ['port', String(i)],
      ]);
      expect(reader.read(writer.write(headers))).toEqual(headers);
    }
  });

  it('are read when they are compressed with the standard dictionary', () => {
    const plain = Buffer.concat([1, 10].map((number) => Buffer.from([0, 0, 0, number])));
    const block = Buffer.concat([plain, Buffer.from('streamtype'), Buffer.from([0, 0, 0, 5]), Buffer.from('error')]);
    const packed = deflateSync(block, { dictionary: HEADER_DICTIONARY, finishFlush: zlib.Z_SYNC_FLUSH, level: 9 });
    expect(new HeaderReader().read(packed)).toEqual(new Map([['streamtype', 'error']]));
  });

  it('are refused when they inflate to more than the limit', () => {
    const bomb = deflateSync(Buffer.alloc(1 << 20), { dictionary: HEADER_DICTIONARY, finishFlush: zlib.Z_SYNC_FLUSH });
    expect(() => new HeaderReader().read(bomb)).toThrow(SpdyError);
  });
});

describe('a SPDY connection', () => {
  it('that closes after the end of a stream leaves a slow consumer all that was read', async () => {
    const { client } = connect((stream) => {
      stream.reply();
      stream.end(Buffer.alloc(200_000));
    });
    const stream = client.openStream(HEADERS);
    let length = 0;
    const slow = new Writable({
      highWaterMark: 1 << 20,
      write: (chunk: Buffer, _encoding, done) => {
        length += chunk.length;
        setImmediate(done);
      },
    });
    stream.once('end', () => client.close());
    await pipeline(stream, slow);
    expect(length).toBe(200_000);
  });

  it('carries data both ways and ends each way separately', async () => {
    const { client } = connect((stream) => {
      stream.reply();
      stream.pipe(stream);
    });
    const stream = client.openStream(HEADERS);
    await stream.replied;
    stream.end('hello');
    expect(await text(stream)).toBe('hello');
    expect(client.streamCount).toBe(0);
    client.close();
    await client.closed;
  });

  it('leaves what was sent before its end to those who read later', async () => {
    const sent = randomBytes(200 << 10);
    const { client, server } = connect((stream) => {
      stream.reply();
      stream.resume();
      stream.end(sent, () => server.close());
    });
    const stream = client.openStream(HEADERS);
    await client.closed;
    expect(await bytesOf(stream)).toEqual(sent);
    await expect.poll(() => stream.destroyed).toBe(true);
  });

  it('fails streams that had not ended when it was closed', async () => {
    const { client, server } = connect((stream) => {
      stream.reply();
      stream.write('partial', () => server.close());
    });
    const stream = client.openStream(HEADERS);
    await client.closed;
    await expect(bytesOf(stream)).rejects.toThrow(/closed/);
  });

  it('delivers megabytes unchanged through slow consumers with bounded buffers', async () => {
    const sent = randomBytes(3 << 20);
    const received: Buffer[] = [];
    let largest = 0;
    const { client, server } = connect((stream) => {
      stream.reply();
      const slow = new Writable({
        write(chunk: Buffer, _, done) {
          largest = Math.max(largest, stream.readableLength);
          received.push(chunk);
          setImmediate(done);
        },
      });
      slow.once('finish', () => stream.end());
      stream.pipe(slow);
    });
    const stream = client.openStream(HEADERS);
    stream.end(sent);
    await stream.resume().toArray();
    expect(Buffer.concat(received).equals(sent)).toBe(true);
    expect(largest).toBeLessThanOrEqual(512 * 1024);
    client.close();
    await server.closed;
  });

  it('lets one stream go on while another is not read', async () => {
    const { client } = connect((stream) => {
      stream.reply();
      if (stream.headers.get('streamtype') === 'busy') stream.pipe(stream);
    });
    const stuck = client.openStream(new Map([['streamtype', 'stuck']]));
    stuck.write(Buffer.alloc(4 << 20));
    const busy = client.openStream(new Map([['streamtype', 'busy']]));
    busy.end('still here');
    expect(await text(busy)).toBe('still here');
    client.close();
    await client.closed;
  });

  it('sends without windows to a peer that knows none', async () => {
    const { peer } = rawPeer((stream) => {
      stream.reply();
      stream.end(Buffer.alloc(1 << 20));
    });
    const all = bytesOf(peer);
    peer.write(synStream(1));
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    peer.end();
    expect((await all).length).toBeGreaterThan(1 << 20);
  });

  it('answers pings and knows its own', async () => {
    const { client } = connect(() => {});
    await client.ping();
    client.close();
    await client.closed;
  });

  it('fails every open stream when the peer goes away', async () => {
    const { client, far } = connect((stream) => stream.reply());
    const stream = client.openStream(HEADERS);
    await stream.replied;
    const failed = new Promise((resolve) => stream.once('error', resolve));
    far.destroy();
    expect(await failed).toBeInstanceOf(SpdyError);
    expect(() => client.openStream(HEADERS)).toThrow('the connection is closed');
  });

  it('refuses streams beyond its limit and goes on', async () => {
    const { client } = connect((stream) => stream.reply(), { maxStreams: 1 });
    await client.openStream(HEADERS).replied;
    await expect(client.openStream(HEADERS).replied).rejects.toBeInstanceOf(StreamResetError);
    expect(client.isClosed).toBe(false);
    client.close();
    await client.closed;
  });

  it('ends a stream for the other side when it is given up', async () => {
    const streams: SpdyStream[] = [];
    const { client } = connect((stream) => {
      stream.reply();
      streams.push(stream);
    });
    const stream = client.openStream(HEADERS);
    await stream.replied;
    stream.write('last words');
    stream.reset();
    expect(await text(streams[0]!)).toBe('last words');
    client.close();
    await client.closed;
  });

  const malformed: [string, Buffer][] = [
    ['of another version', Buffer.from([0x80, 2, 0, 1, 0, 0, 0, 0])],
    ['that is too large', Buffer.from([0x80, 3, 0, 1, 0, 0xff, 0xff, 0xff])],
    ['with headers that are not compressed', controlFrame(FRAME.synStream, 0, Buffer.alloc(40, 7))],
    ['that opens a stream with an id of the other side', synStream(2)],
    ['that opens a stream twice', Buffer.concat([synStream(3), synStreamFrame(3, 0, Buffer.from([0, 0, 0, 0xff, 0xff]))])],
    ['with data for a stream that was never opened', Buffer.concat([dataHeader(9, 0, 1), Buffer.from('x')])],
    ['of settings whose length is wrong', controlFrame(FRAME.settings, 0, Buffer.from([0, 0, 0, 9]))],
    ['of a window update that is too short', controlFrame(FRAME.windowUpdate, 0, Buffer.from([1]))],
    ['that widens the connection beyond bounds', Buffer.concat([initialWindowFrame(1), numbersFrame(FRAME.windowUpdate, 0, 0x7fffffff)])],
  ];
  it.each(malformed)('ends with GOAWAY at a frame %s', async (_, bytes) => {
    const { server, peer } = rawPeer();
    const all = bytesOf(peer);
    peer.write(bytes);
    await server.closed;
    const goAway = (await all).subarray(-16);
    expect(goAway.readUInt32BE(0)).toBe(0x80030007);
    expect(goAway.readUInt32BE(12)).toBe(1);
  });
});

describe('a peer that floods', () => {
  const byte = Buffer.concat([dataHeader(1, 0, 1), Buffer.from('x')]);

  it('with single bytes that nobody reads fills the window of its stream, in few pieces', async () => {
    let opened: SpdyStream | undefined;
    const { server, peer } = rawPeer((stream) => {
      opened = stream;
      stream.reply();
    });
    peer.resume();
    peer.write(Buffer.concat([initialWindowFrame(1 << 20), synStream(1)]));
    const flood = Buffer.concat(Array(8192).fill(byte));
    for (let i = 0; i < 20; i++) peer.write(flood);
    const sent = 20 * 8192;
    await expect.poll(() => opened?.unreadBytes).toBe(sent);
    peer.write(dataHeader(1, FLAG_FIN, 0));
    const pieces = await opened!.toArray();
    expect(Buffer.concat(pieces).length).toBe(sent);
    expect(pieces.length).toBeLessThan(1000);
    server.kill();
  });

  it('with window updates makes the streams that wait try again once for all that arrive together', async () => {
    const resend = vi.spyOn(DataSender.prototype, 'sendWaiting');
    onTestFinished(() => resend.mockRestore());
    const { server, peer } = rawPeer((stream) => {
      stream.reply();
      stream.write(Buffer.alloc(1000));
    });
    peer.resume();
    const writer = new HeaderWriter();
    const streams = Array.from({ length: 200 }, (_, i) => synStream(2 * i + 1, writer));
    peer.write(Buffer.concat([initialWindowFrame(0), ...streams]));
    await expect.poll(() => server.streamCount).toBe(200);
    resend.mockClear();
    const updates = Buffer.concat(Array.from({ length: 10_000 }, (_, i) => numbersFrame(FRAME.windowUpdate, 2 * (i % 200) + 1, 1)));
    peer.write(updates);
    const pong = numbersFrame(FRAME.ping, 1);
    peer.write(pong);
    for await (const chunk of peer) if ((chunk as Buffer).includes(pong)) break;
    expect(resend.mock.calls.length).toBeLessThan(100);
    server.kill();
  });
});
