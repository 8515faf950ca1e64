import { type IncomingMessage, ServerResponse } from 'node:http';
import { type Duplex, Readable } from 'node:stream';
import { StatusError } from '#machinery';
import { Http1Exchange } from './http1-exchange.ts';
import { type ReadLimits, readLimited } from './read-limited.ts';
import type { UnreadResponses } from './unread-responses.ts';

/** An HTTP/1.1 request with an Upgrade header. A usual response closes the connection. */
export class UpgradeExchange extends Http1Exchange {
  readonly #socket: Duplex;
  #isUpgraded = false;

  constructor(request: IncomingMessage, socket: Duplex, { head, unread }: { readonly head: Buffer; readonly unread: UnreadResponses }) {
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket as never);
    response.once('finish', () => {
      response.detachSocket(socket as never);
      socket.end(() => socket.destroy());
    });
    super(request, response, unread);
    this.#socket = socket;
    // Bytes after the headers belong to the upgraded connection.
    if (head.length > 0) socket.unshift(head);
  }

  override readBody(limits: ReadLimits): Promise<Buffer> {
    return readLimited(this.bodyStream(), this.header('content-length'), limits);
  }

  /** Node does not parse bodies of upgrade requests. */
  override bodyStream(): Readable {
    if (this.header('transfer-encoding') !== undefined) throw StatusError.badRequest('a request to upgrade cannot have a chunked body');
    return Readable.from(exactly(this.#socket, Number(this.header('content-length') ?? 0)), { objectMode: false });
  }

  override onAbandoned(callback: () => void): void {
    this.#socket.once('close', () => {
      if (this.#isUpgraded || !this.response.writableFinished) callback();
    });
  }

  override abandon(): void {
    this.#socket.end(() => this.#socket.destroy());
  }

  override upgrade(headers: Record<string, string | string[]>): Duplex {
    const lines = ['HTTP/1.1 101 Switching Protocols'];
    for (const [name, value] of Object.entries(headers)) for (const item of [value].flat()) lines.push(`${name}: ${item}`);
    this.#isUpgraded = true;
    this.response.detachSocket(this.#socket as never);
    this.#socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    return this.#socket;
  }
}

async function* exactly(socket: Duplex, length: number): AsyncIterable<Buffer> {
  let remaining = length;
  while (remaining > 0) {
    const chunk = (socket.read(Math.min(remaining, socket.readableLength || 1)) as Buffer | null) ?? undefined;
    if (chunk === undefined) {
      if (socket.readableEnded || socket.destroyed) throw StatusError.badRequest('unexpected EOF');
      await readableOrClosed(socket);
      continue;
    }
    remaining -= chunk.length;
    yield chunk;
  }
}

function readableOrClosed(socket: Duplex): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      for (const event of EVENTS) socket.off(event, done);
      resolve();
    };
    for (const event of EVENTS) socket.once(event, done);
  });
}

const EVENTS = ['readable', 'end', 'close'] as const;
