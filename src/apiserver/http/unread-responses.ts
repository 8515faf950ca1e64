import type { Duplex } from 'node:stream';
import type { Logger } from '#base';

/** Shorter bodies are bounded by the number of streams. */
const COUNTED_BYTES = 16 * 1024;
const LIMIT_BYTES = 256 * 1024 * 1024;

/** A body that one client waits for. */
interface Hold {
  readonly body: Buffer | string;
}

interface UnreadOfConnection {
  bytes: number;
  readonly holds: Set<Hold>;
}

/**
 * Response bodies that wait for their clients, over all connections. Beyond the limit the connection that holds the most is closed: their requests
 * are over, so that no limit of requests in flight applies to them. A body that several clients wait for counts once.
 */
export class UnreadResponses {
  readonly #connections = new Map<Duplex, UnreadOfConnection>();
  /** How often each buffer is held. Strings are held once each: equal ones are copies. */
  readonly #holders = new Map<Buffer | Hold, number>();
  #bytes = 0;

  constructor(
    private readonly logger: Logger,
    private readonly limitBytes: number = LIMIT_BYTES,
  ) {}

  /**
   * Must be called with a body that could not be sent at once. Returns a function to call when it was sent or its connection closed;
   * undefined for a short body.
   */
  hold(socket: Duplex, body: Buffer | string): (() => void) | undefined {
    if (body.length < COUNTED_BYTES || socket.destroyed) return undefined;
    const connection = this.#connectionOf(socket);
    const hold = { body };
    connection.holds.add(hold);
    connection.bytes += body.length;
    this.#add(hold);
    while (this.#bytes > this.limitBytes) this.#closeLargest();
    return () => {
      if (connection.holds.delete(hold)) this.#release(socket, connection, hold);
    };
  }

  #connectionOf(socket: Duplex): UnreadOfConnection {
    let connection = this.#connections.get(socket);
    if (connection === undefined) {
      connection = { bytes: 0, holds: new Set() };
      this.#connections.set(socket, connection);
    }
    return connection;
  }

  #add(hold: Hold): void {
    const key = keyOf(hold);
    const holders = this.#holders.get(key) ?? 0;
    this.#holders.set(key, holders + 1);
    if (holders === 0) this.#bytes += hold.body.length;
  }

  #release(socket: Duplex, connection: UnreadOfConnection, hold: Hold): void {
    connection.bytes -= hold.body.length;
    if (connection.holds.size === 0) this.#connections.delete(socket);
    this.#remove(hold);
  }

  #remove(hold: Hold): void {
    const key = keyOf(hold);
    const holders = this.#holders.get(key)! - 1;
    if (holders > 0) this.#holders.set(key, holders);
    else {
      this.#holders.delete(key);
      this.#bytes -= hold.body.length;
    }
  }

  #closeLargest(): void {
    const [first, ...others] = this.#connections;
    const [socket, { bytes, holds }] = others.reduce((largest, other) => (other[1].bytes > largest[1].bytes ? other : largest), first!);
    this.#connections.delete(socket);
    for (const hold of holds) this.#remove(hold);
    holds.clear();
    this.logger.warn('closed the connection of a client that does not read its responses', { bytes });
    socket.destroy();
  }
}

function keyOf(hold: Hold): Buffer | Hold {
  return typeof hold.body === 'string' ? hold : hold.body;
}
