import type { Socket } from 'node:net';
import { type Clock, realClock, type TimerHandle } from '../time/clock.ts';
import { connectionKey, type UnacknowledgedConnection, unacknowledgedConnections } from './tcp-table.ts';

export interface DeadPeerOptions {
  readonly clock?: Clock;
  /** How often the kernel's table is read while there are connections. */
  readonly intervalMs?: number;
  /** How long a peer may leave data unacknowledged. */
  readonly patienceMs?: number;
  readonly tables?: readonly string[];
}

interface Suspect {
  readonly sinceMs: number;
  readonly retries: number;
}

const INTERVAL_MS = 15_000;
const PATIENCE_MS = 30_000;
/** Fewer retransmissions are normal on a bad network. */
const MIN_RETRIES = 4;
const TABLES = ['/proc/self/net/tcp', '/proc/self/net/tcp6'];

/**
 * Destroys sockets whose peer no longer acknowledges data. TCP keep-alive is inactive while data is unacknowledged; the kernel then retries for a
 * quarter of an hour. A slow reader still acknowledges and is not affected. Linux only, by the kernel's connection table; elsewhere TCP decides.
 */
export class DeadPeerMonitor implements Disposable {
  readonly #clock: Clock;
  readonly #intervalMs: number;
  readonly #patienceMs: number;
  readonly #tables: readonly string[];
  readonly #sockets = new Map<string, Socket>();
  #suspects = new Map<string, Suspect>();
  #timer: TimerHandle | undefined;
  #isDisposed = false;

  constructor({ clock = realClock, intervalMs = INTERVAL_MS, patienceMs = PATIENCE_MS, tables = TABLES }: DeadPeerOptions = {}) {
    this.#clock = clock;
    this.#intervalMs = intervalMs;
    this.#patienceMs = patienceMs;
    this.#tables = tables;
  }

  /** Adds a connected socket (idempotent); removed when it closes. */
  add(socket: Socket): void {
    const { localPort, remoteAddress, remotePort } = socket;
    if (this.#isDisposed || localPort === undefined || remoteAddress === undefined || remotePort === undefined) return;
    const key = connectionKey({ localPort, remoteAddress, remotePort });
    if (this.#sockets.get(key) === socket) return;
    this.#sockets.set(key, socket);
    socket.once('close', () => {
      if (this.#sockets.get(key) === socket) this.#sockets.delete(key);
    });
    this.#wait();
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#timer?.cancel();
    this.#sockets.clear();
  }

  #wait(): void {
    if (!this.#isDisposed) this.#timer ??= this.#clock.setTimer(this.#intervalMs, () => void this.#check());
  }

  /** Never rejects. */
  async #check(): Promise<void> {
    // A failure to read the table (no free file descriptor) is retried at the next interval; until then TCP decides.
    const tables = await Promise.all(this.#tables.map((table) => unacknowledgedConnections(table).catch(() => [])));
    this.#closeDeadConnections(tables.flat());
    this.#timer = undefined;
    if (this.#sockets.size > 0) this.#wait();
  }

  #closeDeadConnections(connections: readonly UnacknowledgedConnection[]): void {
    const now = this.#clock.monotonic();
    const suspects = new Map<string, Suspect>();
    for (const { key, retries } of connections) {
      const socket = this.#sockets.get(key);
      if (socket === undefined) continue;
      const before = this.#suspects.get(key);
      // Fewer retries than before: something was acknowledged since.
      const sinceMs = before !== undefined && retries >= before.retries ? before.sinceMs : now;
      if (now - sinceMs >= this.#patienceMs && retries >= MIN_RETRIES) socket.destroy(new DeadPeerError());
      else suspects.set(key, { sinceMs, retries });
    }
    this.#suspects = suspects;
  }
}

export class DeadPeerError extends Error {
  override readonly name = 'DeadPeerError';
  readonly code = 'ETIMEDOUT';

  constructor() {
    super('the peer does not acknowledge what was sent to it');
  }
}
