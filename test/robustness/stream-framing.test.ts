import { once } from 'node:events';
import http from 'node:http';
import type { Duplex } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { duplexPair, type Random, SpdyConnection, seededRandom, silentLogger, WebSocketConnection } from '#base';
import { UnreadResponses } from '../../src/apiserver/http/unread-responses.ts';
import { UpgradeExchange } from '../../src/apiserver/http/upgrade-exchange.ts';
import { patience, SEED, times } from './length.ts';

const ROUNDS = Number(process.env.FRAMING_INPUTS ?? times(3_000, 100_000));
const HEADER_BLOCK = Buffer.from(
  '78bbe3c6a7c2001b00e4ff000000010000000a73747265616d747970650000000573746469 6e000000ffff'.replaceAll(' ', ''),
  'hex',
);

/** A nearly valid SPDY frame, which gets past the first checks. */
function spdyInput(random: Random): Buffer {
  const frames: Buffer[] = [];
  for (let i = 1 + random.int(6); i > 0; i--) frames.push(random.int(4) === 0 ? spdyData(random) : spdyControl(random));
  return damaged(Buffer.concat(frames), random);
}

function spdyData(random: Random): Buffer {
  const payload = Buffer.from(random.bytes(random.int(300)));
  const header = Buffer.alloc(8);
  header.writeUInt32BE(random.int(6), 0);
  header.writeUInt32BE(payload.length, 4);
  header[4] = random.int(3);
  return Buffer.concat([header, payload]);
}

function spdyControl(random: Random): Buffer {
  const type = random.int(11);
  const numbers = Buffer.alloc(4 * (1 + random.int(3)));
  for (let at = 0; at < numbers.length; at += 4) numbers.writeUInt32BE(random.pick([0, 1, 2, 3, 5, 7, 65_536, 0x7fffffff, 0xffffffff]), at);
  const payload = type === 1 ? Buffer.concat([Buffer.from([0, 0, 0, 1 + random.int(9), 0, 0, 0, 0, 0, 0]), HEADER_BLOCK]) : numbers;
  const header = Buffer.from([0x80, 3, 0, type, random.int(4), 0, 0, 0]);
  header.writeUIntBE(payload.length, 5, 3);
  return Buffer.concat([header, payload]);
}

function webSocketInput(random: Random): Buffer {
  const frames: Buffer[] = [];
  for (let i = 1 + random.int(6); i > 0; i--) {
    const length = random.pick([0, 1, 2, 100, 125, 300]);
    const head = [random.pick([0x80, 0]) | random.pick([0, 1, 2, 2, 2, 8, 9, 10, 3])];
    if (length < 126) head.push(0x80 | length);
    else head.push(0xfe, length >> 8, length & 255);
    frames.push(Buffer.from([...head, 1, 2, 3, 4]), Buffer.from(random.bytes(length)));
  }
  return damaged(Buffer.concat(frames), random);
}

/** A nearly valid upgrade request, followed by a body or the first frames. */
function upgradeInput(random: Random): Buffer {
  const lengths = [
    '',
    'content-length: 5',
    'content-length: 99999999',
    'content-length: -1',
    'transfer-encoding: chunked',
    'content-length: 5, 6',
  ];
  const lines = [
    `${random.pick(['GET', 'POST', 'PUT', 'PRI', 'CONNECT', ''])} ${random.pick(['/exec', '*', '//', 'http://x/', '/%zz'])} HTTP/${random.pick(['1.1', '1.0', '2.0', ''])}`,
    'host: x',
    `connection: ${random.pick(['Upgrade', 'upgrade, keep-alive', 'close', ''])}`,
    `upgrade: ${random.pick(['websocket', 'SPDY/3.1', 'h2c', ''])}`,
    'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
    random.pick(lengths),
  ].filter((line) => line !== '' && random.int(12) > 0);
  return damaged(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), Buffer.from(random.bytes(random.int(300)))]), random);
}

/** Reads the body, then upgrades and echoes. */
async function serveUpgrade(exchange: UpgradeExchange): Promise<void> {
  await exchange.readBody({ limit: 1024 });
  const connection: Duplex = exchange.upgrade({ connection: 'Upgrade', upgrade: 'x' });
  connection.pipe(connection);
}

function damaged(bytes: Buffer, random: Random): Buffer {
  for (let i = random.int(4); i > 0 && bytes.length > 0; i--) bytes[random.int(bytes.length)] = random.int(256);
  return random.int(5) === 0 ? bytes.subarray(0, random.int(bytes.length + 1)) : bytes;
}

/** In pieces, as from a network. */
function* pieces(bytes: Buffer, random: Random): Iterable<Buffer> {
  for (let at = 0; at < bytes.length; ) {
    const length = 1 + random.int(random.pick([1, 8, 1000]));
    yield Buffer.from(bytes.subarray(at, at + length));
    at += length;
  }
}

describe(`whatever a peer sends, the connection ends cleanly (seed ${SEED})`, () => {
  test('over SPDY', { timeout: patience(60_000) }, async () => {
    const random = seededRandom(`${SEED} spdy`);
    for (let i = 0; i < ROUNDS; i++) {
      const { near, far } = duplexPair();
      near.on('error', () => {});
      const connection = new SpdyConnection(far, {
        role: random.pick(['server', 'client']),
        onStream: (stream) => {
          stream.reply();
          stream.pipe(stream);
        },
      });
      near.resume();
      for (const piece of pieces(spdyInput(random), random)) near.write(piece);
      near.end();
      await connection.closed;
      near.destroy();
      expect(connection.streamCount).toBe(0);
    }
  });

  test('over a WebSocket', { timeout: patience(60_000) }, async () => {
    const random = seededRandom(`${SEED} websocket`);
    for (let i = 0; i < ROUNDS; i++) {
      const { near, far } = duplexPair();
      near.on('error', () => {});
      const sink = { messageStart: () => {}, messageData: () => {}, messageEnd: () => {} };
      const connection = new WebSocketConnection(far, { role: 'server', sink });
      near.resume();
      for (const piece of pieces(webSocketInput(random), random)) near.write(piece);
      near.end();
      await connection.closed;
      near.destroy();
    }
  });

  test('as a request to leave HTTP', { timeout: patience(60_000) }, async () => {
    const random = seededRandom(`${SEED} upgrade`);
    const unread = new UnreadResponses(silentLogger);
    const server = http.createServer((_request, response) => void response.end('no upgrade'));
    server.on('upgrade', (request, socket, head) => {
      socket.on('error', () => {});
      const exchange = new UpgradeExchange(request, socket, { head, unread });
      serveUpgrade(exchange).catch(() => exchange.abandon());
    });
    server.on('clientError', (_error, socket) => socket.destroy());
    for (let i = 0; i < ROUNDS; i++) {
      const { near, far } = duplexPair();
      for (const end of [near, far]) end.on('error', () => {});
      const closed = once(far, 'close');
      near.resume();
      server.emit('connection', far);
      for (const piece of pieces(upgradeInput(random), random)) near.write(piece);
      await new Promise((resolve) => setImmediate(resolve));
      near.destroy();
      await closed;
    }
    server.close();
  });
});
