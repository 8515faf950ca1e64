import { Agent, type AgentOptions } from 'node:https';
import type { Duplex } from 'node:stream';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { duplexPair } from '../async/duplex-pair.ts';

export interface DialTarget {
  /** An address or a name; resolved where the connection is opened. */
  readonly host: string;
  readonly port: number;
}

/** Connects to a TCP port indirectly, such as through a proxy. Rejects with the reason. */
export type Dialer = (target: DialTarget) => Promise<Duplex>;

/** `host:port`, in the notation of proxies. */
export function targetText({ host, port }: DialTarget): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** A connection that can be written to immediately; it fails if the dialer does. */
export function dialedConnection(dial: Dialer, target: DialTarget): Duplex {
  const { near, far } = duplexPair();
  // The near end's user sees the error; the far end has no other user.
  far.on('error', () => {});
  dial(target).then(
    (connection) => join(far, connection),
    (error: Error) => near.destroy(error),
  );
  return near;
}

function join(far: Duplex, connection: Duplex): void {
  connection.on('error', (error) => far.destroy(error));
  connection.once('close', () => far.destroy());
  far.once('close', () => connection.destroy());
  far.pipe(connection).pipe(far);
}

/** Pools TLS connections that were opened by a dialer. */
export class DialingAgent extends Agent {
  readonly #dial: Dialer;

  constructor(dial: Dialer, options: AgentOptions = {}) {
    super({ ...options, keepAlive: true });
    this.#dial = dial;
  }

  override createConnection(options: ConnectionOptions): Duplex {
    const { host = '', port = 443 } = options;
    // errors: the agent's request listens
    return connectTls({ ...options, socket: dialedConnection(this.#dial, { host, port: Number(port) }) });
  }
}
