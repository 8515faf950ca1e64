import { createServer, type Socket } from 'node:net';
import { type Clock, isPromise, listenOn, type TimerHandle } from '#base';
import { withLengthPrefix } from '../forward/exchange.ts';
import type { DnsListener, UdpServerDeps } from './udp-server.ts';

export interface TcpServerDeps extends UdpServerDeps {
  readonly clock: Clock;
}

const MAX_CONNECTIONS = 1_000;
/** Limits connections per client, so that one client cannot exhaust them. */
const MAX_CONNECTIONS_PER_CLIENT = 64;
/** The idle timeout between complete queries. */
const IDLE_MS = 10_000;
/** Concurrent queries per connection. */
const MAX_PENDING = 32;
/** The buffer limit: one maximum-size query. */
const MAX_BUFFERED_BYTES = 65_537;

export async function listenTcp(where: { host: string; port: number }, deps: TcpServerDeps): Promise<DnsListener> {
  const connections = new Set<Connection>();
  const perClient = new Map<string, number>();
  const server = createServer((socket) => {
    const client = socket.remoteAddress ?? '';
    const count = perClient.get(client) ?? 0;
    if (count >= MAX_CONNECTIONS_PER_CLIENT) {
      socket.destroy();
      return;
    }
    perClient.set(client, count + 1);
    const connection = new Connection(socket, deps, () => {
      connections.delete(connection);
      const left = (perClient.get(client) ?? 1) - 1;
      if (left === 0) perClient.delete(client);
      else perClient.set(client, left);
    });
    connections.add(connection);
  });
  server.maxConnections = MAX_CONNECTIONS;
  await listenOn(server, where, deps.logger);
  return {
    port: (server.address() as { port: number }).port,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        for (const connection of connections) connection.close();
        server.close(() => resolve());
      }),
  };
}

class Connection {
  #buffered: Buffer = Buffer.alloc(0);
  #pending = 0;
  #timer: TimerHandle | undefined;

  constructor(
    private readonly socket: Socket,
    private readonly deps: TcpServerDeps,
    onClose: () => void,
  ) {
    socket.on('data', (chunk) => this.#take(chunk));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      this.#timer?.cancel();
      onClose();
    });
    this.#waitForQuery();
  }

  close(): void {
    this.socket.destroy();
  }

  /** Counted from the last complete query: partial data does not extend it. */
  #waitForQuery(): void {
    this.#timer?.cancel();
    this.#timer = this.deps.clock.setTimer(IDLE_MS, () => this.socket.destroy());
  }

  #take(chunk: Buffer): void {
    this.#buffered = this.#buffered.length === 0 ? chunk : Buffer.concat([this.#buffered, chunk]);
    while (this.#buffered.length >= 2) {
      const end = 2 + this.#buffered.readUInt16BE(0);
      if (this.#buffered.length < end) break;
      const query = this.#buffered.subarray(2, end);
      this.#buffered = this.#buffered.subarray(end);
      this.#waitForQuery();
      if (!this.#answer(query)) return;
    }
    if (this.#buffered.length > MAX_BUFFERED_BYTES) this.socket.destroy();
  }

  #answer(query: Buffer): boolean {
    // A client that does not read its replies is not served further.
    if (this.#pending >= MAX_PENDING || this.socket.writableLength > MAX_BUFFERED_BYTES) {
      this.socket.destroy();
      return false;
    }
    const reply = this.#resolve(query);
    if (reply === undefined) this.socket.destroy();
    else if (isPromise(reply)) this.#send(reply);
    else this.socket.write(withLengthPrefix(reply));
    return reply !== undefined;
  }

  #resolve(query: Buffer): Buffer | Promise<Buffer> | undefined {
    try {
      return this.deps.resolver.resolve(query, 'tcp', this.socket.remoteAddress ?? '');
    } catch (error) {
      this.#fail(error);
      return undefined;
    }
  }

  #fail(error: unknown): void {
    this.deps.metrics.panics.inc();
    this.deps.logger.warn('a DNS query failed', { error });
    this.socket.destroy();
  }

  #send(reply: Promise<Buffer>): void {
    this.#pending++;
    reply
      .then(
        (bytes) => void (this.socket.destroyed || this.socket.write(withLengthPrefix(bytes))),
        (error) => this.#fail(error),
      )
      .finally(() => this.#pending--)
      .catch(() => {});
  }
}
