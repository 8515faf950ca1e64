import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { ChunkList } from '../chunk-list.ts';
import { silentLogger } from '../logging/logger.ts';
import { listenOn } from '../net/listen-on.ts';
import { Http2Server } from './http2-server.ts';
import { CLIENT_PREFACE, FRAME_HEAD_BYTES } from './protocol.ts';
import type { ServerConnection } from './server-connection.ts';
import type { ServerStream } from './server-stream.ts';

export type Serve = (stream: ServerStream, connection: ServerConnection) => void | Promise<void>;

/** The port of a server without TLS that answers with `serve`. */
export async function serveHttp2(serve: Serve, maxConcurrentStreams = 100): Promise<number> {
  const http2 = new Http2Server({
    maxConcurrentStreams,
    recurringFields: ['content-type', 'x-recurring'],
    onStream: (stream, connection, release) => void Promise.resolve(serve(stream, connection)).finally(release),
  });
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    http2.serve(socket);
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  await listenOn(server, { host: '127.0.0.1', port: 0 }, silentLogger);
  return (server.address() as AddressInfo).port;
}

/** The whole body of a request. */
export function bodyOf(stream: ServerStream): Promise<Buffer> {
  const chunks = new ChunkList();
  return new Promise((resolve, reject) =>
    stream.receive({
      data(chunk) {
        chunks.push(chunk);
        stream.consumed(chunk.length);
      },
      end: () => resolve(chunks.whole()),
      aborted: () => reject(new Error('aborted')),
    }),
  );
}

export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
  readonly payload: Buffer;
}

export function frame(type: number, flags: number, streamId: number, payload: Uint8Array | string = ''): Buffer {
  const bytes = Buffer.from(payload as string, 'latin1');
  const head = Buffer.alloc(FRAME_HEAD_BYTES);
  head.writeUIntBE(bytes.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(streamId, 5);
  return Buffer.concat([head, bytes]);
}

/** A client that sends frames as they are given. */
export class RawClient {
  readonly received: Frame[] = [];
  #rest: Buffer = Buffer.alloc(0);

  private constructor(readonly socket: Socket) {
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => this.#push(chunk));
  }

  static async connect(port: number, preface: Buffer = CLIENT_PREFACE): Promise<RawClient> {
    const socket = connect(port, '127.0.0.1');
    const client = new RawClient(socket);
    onTestFinished(() => void socket.destroy());
    await once(socket, 'connect');
    socket.write(Buffer.concat([preface, preface === CLIENT_PREFACE ? frame(0x4, 0, 0) : Buffer.alloc(0)]));
    return client;
  }

  send(...frames: readonly Buffer[]): void {
    this.socket.write(Buffer.concat(frames));
  }

  /** Resolves with the first frame that fits. Rejects when the connection closes without one. */
  async until(fits: (frame: Frame) => boolean): Promise<Frame> {
    for (;;) {
      const frame = this.received.find(fits);
      if (frame !== undefined) return frame;
      if (this.socket.destroyed) throw new Error('the connection is closed');
      await Promise.race([once(this.socket, 'data'), once(this.socket, 'close')]);
    }
  }

  /** The error code of the GOAWAY that ends the connection. */
  async goneAway(): Promise<number> {
    const { payload } = await this.until(({ type }) => type === 0x7);
    if (!this.socket.destroyed) await once(this.socket, 'close');
    return payload.readUInt32BE(4);
  }

  /** The error code with which a stream is reset. */
  async resetOf(streamId: number): Promise<number> {
    const { payload } = await this.until((frame) => frame.type === 0x3 && frame.streamId === streamId);
    return payload.readUInt32BE(0);
  }

  #push(chunk: Buffer): void {
    let bytes = Buffer.concat([this.#rest, chunk]);
    for (;;) {
      const end = FRAME_HEAD_BYTES + (bytes.length >= 3 ? bytes.readUIntBE(0, 3) : 0);
      if (bytes.length < end) break;
      const payload = bytes.subarray(FRAME_HEAD_BYTES, end);
      this.received.push({ type: bytes[3]!, flags: bytes[4]!, streamId: bytes.readUInt32BE(5), payload });
      bytes = bytes.subarray(end);
    }
    this.#rest = bytes;
  }
}
