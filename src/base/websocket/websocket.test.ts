import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { duplexPair } from '../async/duplex-pair.ts';
import { handshakeProblem, webSocketAccept } from './handshake.ts';
import { applyMask } from './mask.ts';
import { WebSocketConnection } from './websocket-connection.ts';

interface Message {
  readonly isText: boolean;
  readonly data: Buffer;
}

function collect() {
  const messages: Message[] = [];
  let current: Buffer[] = [];
  let isText = false;
  return {
    messages,
    sink: {
      messageStart: (text: boolean) => {
        isText = text;
        current = [];
      },
      messageData: (chunk: Buffer) => void current.push(chunk),
      messageEnd: () => void messages.push({ isText, data: Buffer.concat(current) }),
    },
  };
}

function pair() {
  const { near, far } = duplexPair();
  const [clientSide, serverSide] = [collect(), collect()];
  const client = new WebSocketConnection(near, { role: 'client', sink: clientSide.sink });
  const server = new WebSocketConnection(far, { role: 'server', sink: serverSide.sink });
  return { client, server, clientSide, serverSide, near, far };
}

async function closeFrame(bytes: Buffer): Promise<number> {
  const { near, far } = duplexPair();
  const server = new WebSocketConnection(far, { role: 'server', sink: collect().sink });
  const answers: Buffer[] = [];
  near.on('data', (chunk: Buffer) => answers.push(chunk));
  near.write(Buffer.from(bytes));
  await server.closed;
  near.destroy();
  const answer = Buffer.concat(answers);
  expect(answer[0]).toBe(0x88);
  return answer.readUInt16BE(2);
}

describe('a WebSocket', () => {
  it.each([0, 1, 125, 126, 65_535, 65_536, 1 << 20])('carries messages of %d bytes both ways', async (size) => {
    const { client, server, clientSide, serverSide } = pair();
    const data = randomBytes(size);
    client.send([data.subarray(0, size >> 1), data.subarray(size >> 1)]);
    server.send([data], { isText: true });
    await new Promise((resolve) => setImmediate(resolve));
    expect(serverSide.messages.map((message) => [message.isText, message.data.equals(data)])).toEqual([[false, true]]);
    expect(clientSide.messages.map((message) => [message.isText, message.data.equals(data)])).toEqual([[true, true]]);
    client.close();
    await Promise.all([client.closed, server.closed]);
  });

  it('ends by a close frame of either side', async () => {
    const { client, server } = pair();
    server.close(1000, 'done');
    await Promise.all([client.closed, server.closed]);
    expect([client.isClosed, server.isClosed]).toEqual([true, true]);
  });

  it('answers pings', async () => {
    const { client, server } = pair();
    client.ping();
    await new Promise((resolve) => setImmediate(resolve));
    expect(client.activity).toBe(1);
    client.close();
    await server.closed;
  });

  it('tells the writer when the connection can take more', async () => {
    const { client, server, far } = pair();
    far.pause();
    let isSent = false;
    const sent = new Promise<void>((resolve) => {
      client.send([Buffer.alloc(1 << 20)], {
        sent: () => {
          isSent = true;
          resolve();
        },
      });
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isSent).toBe(false);
    far.resume();
    await sent;
    client.close();
    await server.closed;
  });

  const malformed: [string, number[], number][] = [
    ['without a mask', [0x82, 0x01, 0x00], 1002],
    ['with reserved bits', [0xc2, 0x80, 0, 0, 0, 0], 1002],
    ['with an unknown opcode', [0x83, 0x80, 0, 0, 0, 0], 1002],
    ['that continues nothing', [0x80, 0x80, 0, 0, 0, 0], 1002],
    ['that begins a message inside of another', [0x02, 0x80, 0, 0, 0, 0, 0x82, 0x80, 0, 0, 0, 0], 1002],
    ['of control that is too long', [0x89, 0xfe, 0, 126, 0, 0, 0, 0], 1002],
    ['of control that is in pieces', [0x09, 0x80, 0, 0, 0, 0], 1002],
    ['of a length beyond counting', [0x82, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], 1009],
    ['of close with one byte', [0x88, 0x81, 0, 0, 0, 0, 0], 1002],
  ];
  it.each(malformed)('is closed by a frame %s', async (_, bytes, code) => {
    expect(await closeFrame(Buffer.from(bytes))).toBe(code);
  });

  it('understands another implementation, and is understood by it', async () => {
    const { near, far } = duplexPair();
    const serverSide = collect();
    const serverEnd = new WebSocketConnection(far, { role: 'server', sink: serverSide.sink });
    const clientEnd = await new Promise<WebSocket>((resolve) => {
      // The client part of the library needs a network; its framing does not.
      const socket = new WebSocket(null as never, undefined as never, {} as never);
      (socket as unknown as { _isServer: boolean })._isServer = false;
      (socket as unknown as { setSocket(...args: unknown[]): void }).setSocket(near, Buffer.alloc(0), { maxPayload: 1 << 20 });
      resolve(socket);
    });
    const echoed = new Promise<Buffer>((resolve) => clientEnd.once('message', (data) => resolve(data as Buffer)));
    clientEnd.send(randomBytes(100_000));
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    const sent = serverSide.messages[0]!.data;
    serverEnd.send([sent]);
    expect((await echoed).equals(sent)).toBe(true);
    clientEnd.close();
    await serverEnd.closed;
    near.destroy();
  });
});

describe('masks', () => {
  it('are undone by themselves at every offset and alignment', () => {
    const mask = Buffer.from([1, 2, 3, 4]);
    for (const length of [37, 64, 300])
      for (let at = 0; at < 32; at++) {
        const start = at >> 2;
        const offset = at & 3;
        const plain = randomBytes(length);
        const room = Buffer.alloc(length + 8);
        const data = room.subarray(start, start + plain.length);
        plain.copy(data);
        applyMask(data, mask, offset);
        expect([...data]).toEqual([...plain].map((byte, i) => byte ^ mask[(offset + i) & 3]!));
      }
  });
});

describe('the handshake', () => {
  it('accepts the key of the RFC as it says', () => {
    expect(webSocketAccept('dGhlIHNhbXBsZSBub25jZQ==')).toBe('s3pPLMBiTxaQ9kYGzzhZRbK+xOo=');
  });

  it.each([
    [{ 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==', 'sec-websocket-version': '13' }, undefined],
    [{ 'sec-websocket-key': 'short', 'sec-websocket-version': '13' }, 'the Sec-WebSocket-Key header is missing or malformed'],
    [{ 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==', 'sec-websocket-version': '8' }, 'the version of WebSocket must be 13'],
  ])('of %j has the problem %s', (headers, problem) => {
    expect(handshakeProblem((name) => (headers as Record<string, string>)[name])).toBe(problem);
  });
});
