import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { dialedConnection, GrpcServer, httpConnectDialer, type MethodHandler, realClock, seededRandom } from '#base';
import { networkProxyDialer } from './network-proxy-dialer.ts';
import { PACKET, Packet, PROXY_METHOD } from './network-proxy-messages.ts';

const TARGET = { host: '10.0.0.1', port: 443 };

let directory: string;
let socketPath: string;
beforeEach(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), 'sampan-proxy-'));
  socketPath = path.join(directory, 'proxy.sock');
});
afterEach(() => rmSync(directory, { recursive: true }));

/** No error of the proxy may become an uncaught exception. */
async function failureOf(dial: () => Promise<unknown>): Promise<string> {
  try {
    await dial();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('the lie was taken for a connection');
}

describe('a network proxy that lies', () => {
  const dialed = (random: bigint) => Packet.encode({ type: PACKET.dialResponse, dialResponse: { connectId: 7n, random } });
  type Answer = (random: bigint) => readonly Uint8Array[];
  const BEFORE_THE_DIAL: readonly (readonly [string, Answer])[] = [
    ['data for nobody', () => [Packet.encode({ type: PACKET.data })]],
    ['data before the dial', () => [Packet.encode({ type: PACKET.data, data: { connectId: 7n, data: Buffer.from('x') } })]],
    ['the end of no connection', () => [Packet.encode({ type: PACKET.closeResponse })]],
    ['an answer to another dial', (random) => [dialed(random + 1n)]],
    ['a packet of no type', () => [Packet.encode({ type: 99 })]],
    ['bytes that are no packet', () => [Buffer.from([0xff, 0xff, 0xff])]],
    ['a wrong wire type', () => [Buffer.from([0x22, 0x02, 0x0f, 0x0f])]],
    ['the end of the dial', () => [Packet.encode({ type: PACKET.dialClose })]],
    ['nothing', () => []],
  ];

  async function serve(answer: Answer): Promise<GrpcServer> {
    const handle: MethodHandler = async function* (requests) {
      for await (const bytes of requests) {
        const { type, dialRequest } = Packet.decode(bytes);
        if (type !== PACKET.dialRequest) continue;
        yield* answer(dialRequest?.random ?? 0n);
        return;
      }
    };
    return GrpcServer.start({ endpoint: `unix://${socketPath}`, methods: [{ name: PROXY_METHOD, handle }] });
  }
  const dial = () => networkProxyDialer(socketPath, { clock: realClock, random: seededRandom(1) })(TARGET);

  test.each(BEFORE_THE_DIAL)('fails the dial with %s', async (_, answer) => {
    await using _server = await serve(answer);
    expect(await failureOf(dial)).not.toBe('');
  });

  test('ends a connection by sending data after its end', async () => {
    await using _server = await serve((random) => [
      dialed(random),
      Packet.encode({ type: PACKET.closeResponse, closeResponse: { connectId: 7n } }),
      Packet.encode({ type: PACKET.data, data: { connectId: 7n, data: Buffer.from('late') } }),
    ]);
    const connection = dialedConnection(dial, TARGET);
    connection.on('error', () => {}).resume();
    await once(connection, 'close');
    expect(connection.destroyed).toBe(true);
  });

  test('may answer a dial twice, and carries data all the same', async () => {
    await using _server = await serve((random) => [
      dialed(random),
      dialed(random),
      Packet.encode({ type: PACKET.data, data: { connectId: 7n, data: Buffer.from('hello') } }),
    ]);
    const connection = dialedConnection(dial, TARGET);
    connection.on('error', () => {});
    const [chunk] = (await once(connection, 'data')) as [Buffer];
    expect(chunk.toString()).toBe('hello');
    connection.destroy();
  });
});

describe('a CONNECT proxy that lies', () => {
  const ANSWERS: readonly (readonly [string, (socket: Socket) => void])[] = [
    ['no HTTP', (socket) => void socket.end('SSH-2.0-OpenSSH_9.2\r\n')],
    ['a closed connection', (socket) => void socket.destroy()],
    ['half a header', (socket) => void socket.end('HTTP/1.1 200 O')],
    ['a switch of protocols', (socket) => void socket.end('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n')],
    ['a refusal', (socket) => void socket.end('HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 99999\r\n\r\n')],
    ['headers of a megabyte', (socket) => void socket.end(`HTTP/1.1 200 OK\r\nx: ${'a'.repeat(1 << 20)}\r\n\r\n`)],
    ['a thousand interim answers', (socket) => void socket.end('HTTP/1.1 100 Continue\r\n\r\n'.repeat(1000))],
    ['a status of words', (socket) => void socket.end('HTTP/1.1 yes yes\r\n\r\n')],
  ];

  async function serve(answer: (socket: Socket) => void): Promise<Server> {
    const server = createServer((socket) => {
      socket.on('error', () => socket.destroy());
      socket.once('data', () => answer(socket));
    });
    server.listen(socketPath);
    await once(server, 'listening');
    return server;
  }

  test.each(ANSWERS)('fails the dial with %s', async (_, answer) => {
    const server = await serve(answer);
    expect(await failureOf(() => httpConnectDialer({ url: `unix://${socketPath}` })(TARGET))).toContain('10.0.0.1:443');
    server.close();
    await once(server, 'close');
  });
});
