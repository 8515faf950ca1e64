import { createSocket } from 'node:dgram';
import { connect } from 'node:net';
import type { Clock } from '#base';
import type { ServerAddress } from '../config/dns-config-map.ts';
import { HEADER_BYTES, questionEnd } from '../message/dns-message.ts';

const MAX_TCP_BYTES = 65_535;

export interface ExchangeOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Random, so that replies cannot be spoofed. */
  readonly id: number;
}

/** Queries a name server over UDP, from its own port. Rejects on timeout and network errors. */
export function exchangeUdp(query: Buffer, server: ServerAddress, { clock, timeoutMs, id }: ExchangeOptions): Promise<Buffer> {
  const sent = withId(query, id);
  return new Promise((resolve, reject) => {
    const socket = createSocket(server.host.includes(':') ? 'udp6' : 'udp4');
    const timer = clock.setTimer(timeoutMs, () => finish(new Error(`${server.host} did not answer within ${timeoutMs} ms`)));
    let isOver = false;
    const finish = (outcome: Error | Buffer) => {
      if (isOver) return;
      isOver = true;
      timer.cancel();
      socket.removeAllListeners('message');
      socket.close();
      if (outcome instanceof Error) reject(outcome);
      else resolve(outcome);
    };
    socket.on('error', finish);
    socket.on('message', (reply) => {
      if (isReplyTo(sent, reply)) finish(reply);
    });
    // A connected socket receives packets from this server only.
    socket.connect(server.port, server.host, (error?: Error) => {
      if (error) finish(error);
      else if (!isOver) socket.send(sent);
    });
  });
}

export function exchangeTcp(query: Buffer, server: ServerAddress, { clock, timeoutMs, id }: ExchangeOptions): Promise<Buffer> {
  const sent = withId(query, id);
  return new Promise((resolve, reject) => {
    const socket = connect(server.port, server.host);
    const chunks: Buffer[] = [];
    let length = 0;
    const timer = clock.setTimer(timeoutMs, () => socket.destroy(new Error(`${server.host} did not answer within ${timeoutMs} ms`)));
    socket.on('connect', () => socket.write(withLengthPrefix(sent)));
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      length += chunk.length;
      const all = length >= 2 ? Buffer.concat(chunks) : undefined;
      if (length > MAX_TCP_BYTES + 2) socket.destroy(new Error(`${server.host} sent too much`));
      else if (all !== undefined && length >= 2 + all.readUInt16BE(0)) done(all.subarray(2, 2 + all.readUInt16BE(0)));
    });
    socket.on('error', (error) => {
      timer.cancel();
      reject(error);
    });
    socket.on('close', () => {
      timer.cancel();
      reject(new Error(`${server.host} closed the connection`));
    });
    const done = (reply: Buffer) => {
      if (isReplyTo(sent, reply)) resolve(reply);
      socket.destroy();
    };
  });
}

export function withLengthPrefix(message: Buffer): Buffer {
  const head = Buffer.alloc(2);
  head.writeUInt16BE(message.length);
  return Buffer.concat([head, message]);
}

function withId(query: Buffer, id: number): Buffer {
  const copy = Buffer.from(query);
  copy.writeUInt16BE(id, 0);
  return copy;
}

/** The same id and the same question. */
function isReplyTo(query: Buffer, reply: Buffer): boolean {
  if (reply.length < HEADER_BYTES || reply.readUInt16BE(0) !== query.readUInt16BE(0) || (reply[2]! & 0x80) === 0) return false;
  const end = questionEnd(query);
  const question = query.subarray(HEADER_BYTES, end).toString('latin1').toLowerCase();
  return reply.subarray(HEADER_BYTES, end).toString('latin1').toLowerCase() === question;
}
