import {
  Backoff,
  type Clock,
  type Dialer,
  GrpcConnection,
  GrpcError,
  type GrpcStream,
  type GrpcTls,
  type Random,
  type StreamHandler,
} from '#base';
import { StoreError } from '../store-error.ts';
import { isSafeToRetry, transient } from './etcd-error.ts';

export interface ClusterOptions {
  readonly endpoints: readonly string[];
  readonly tls?: GrpcTls | undefined;
  readonly dial?: Dialer | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly connectTimeoutMs: number;
  readonly keepAliveMs: number;
  /** For one attempt at one member. */
  readonly attemptTimeoutMs: number;
  /** For a call with all its attempts. */
  readonly callTimeoutMs: number;
}

/** `read`: may be sent again whenever it fails. `write`: only when it certainly had no effect. */
export type CallKind = 'read' | 'write';

export interface ClusterCall {
  readonly method: string;
  readonly message: Buffer;
  readonly kind: CallKind;
  readonly signal?: AbortSignal | undefined;
  /** Overrides the default time for a call with all its attempts. */
  readonly timeoutMs?: number | undefined;
}

/** Makes a member without a leader fail fast instead of blocking. */
const METADATA = { hasleader: 'true' };
/** As upstream's client: pages of large objects are large. */
const MAX_MESSAGE_BYTES = 2 ** 31 - 1;
const BACKOFF = { initialMs: 20, maxMs: 1_000, jitter: 0.3 };

/** Client-side balancer over the members of an etcd cluster: sticks to one while it works, then fails over to the next. */
export class Cluster {
  readonly #options: ClusterOptions;
  readonly #connections = new Set<GrpcConnection>();
  #connection: GrpcConnection | undefined;
  #next: number;
  #closed = false;

  constructor(options: ClusterOptions) {
    if (options.endpoints.length === 0) throw new StoreError('invalid', 'etcd needs at least one endpoint');
    for (const endpoint of options.endpoints) checkEndpoint(endpoint);
    this.#options = options;
    // Several API servers should not all begin with the same member.
    this.#next = options.random.int(options.endpoints.length);
  }

  get endpoints(): readonly string[] {
    return this.#options.endpoints;
  }

  get closed(): boolean {
    return this.#closed;
  }

  close(): void {
    this.#closed = true;
    for (const connection of this.#connections) connection.close();
  }

  /** Calls a member, retrying on others where that is safe, until one answers or the deadline passes. Rejects with the GrpcError as received. */
  async call({ method, message, kind, signal, timeoutMs: most }: ClusterCall): Promise<Buffer> {
    const { clock, attemptTimeoutMs, callTimeoutMs } = this.#options;
    const deadline = clock.monotonic() + (most ?? callTimeoutMs);
    const backoff = this.backoff();
    for (;;) {
      signal?.throwIfAborted();
      const left = deadline - clock.monotonic();
      const connection = this.#current();
      try {
        const timeoutMs = Math.ceil(kind === 'read' ? Math.min(left, attemptTimeoutMs) : left);
        return await connection.call(method, message, { timeoutMs, signal });
      } catch (error) {
        if (this.#closed) throw closedError();
        if (!(error instanceof GrpcError)) throw error;
        if (transient(error)) this.leave(connection);
        const pause = backoff.next();
        const again = kind === 'read' ? transient(error) : isSafeToRetry(error);
        if (!again || clock.monotonic() + pause >= deadline) throw error;
        await clock.sleep(pause, signal);
      }
    }
  }

  /** A stream to a member, and its connection, for `leave` when the member does not work. */
  stream(method: string, handler: StreamHandler): { readonly stream: GrpcStream; readonly connection: GrpcConnection } {
    const connection = this.#current();
    return { stream: connection.stream(method, { handler }), connection };
  }

  /** A separate connection to one member. */
  connectTo(endpoint: string): GrpcConnection {
    const connection = new GrpcConnection({
      ...this.#options,
      endpoint,
      metadata: METADATA,
      maxMessageBytes: MAX_MESSAGE_BYTES,
      onClose: (closed) => this.#connections.delete(closed),
    });
    this.#connections.add(connection);
    return connection;
  }

  /** Switches to the next member, unless that has already happened. */
  leave(connection: GrpcConnection): void {
    if (this.#connection !== connection) return;
    this.#connection = undefined;
    this.#next++;
    connection.retire();
  }

  backoff(): Backoff {
    return new Backoff(BACKOFF, this.#options.random);
  }

  #current(): GrpcConnection {
    if (this.#closed) throw closedError();
    if (this.#connection?.usable === true) return this.#connection;
    const { endpoints } = this.#options;
    if (this.#connection !== undefined) this.#next++;
    this.#connection = this.connectTo(endpoints[this.#next % endpoints.length]!);
    return this.#connection;
  }
}

export function closedError(): StoreError {
  return new StoreError('closed', 'the store is closed');
}

function checkEndpoint(endpoint: string): void {
  const protocol = URL.canParse(endpoint) ? new URL(endpoint).protocol : undefined;
  if (protocol !== 'http:' && protocol !== 'https:')
    throw new StoreError('invalid', `${JSON.stringify(endpoint)} is no endpoint: http://host:port`);
}
