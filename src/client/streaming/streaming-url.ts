import type { Duplex } from 'node:stream';
import { type Clock, isTimeout, onAbort, timeoutSignal } from '#base';
import { type DialedConnection, dialUpgrade } from './dial-upgrade.ts';
import { LIMITS } from './limits.ts';
import { PORT_FORWARD_PROTOCOL, PortForwardClient } from './port-forward.ts';
import type { CommandStreamOptions, RemoteCommand } from './remote-command.ts';
import { SPDY_COMMAND_PROTOCOLS, spdyCommand } from './spdy-command.ts';
import { PROTOCOL_HEADER, SPDY } from './upgrade-headers.ts';

export interface StreamingUrlOptions {
  readonly clock: Clock;
  /** Aborts the connection, also while it is in use. */
  readonly signal?: AbortSignal | undefined;
  /** Connects to a unix socket instead of the URL's host. */
  readonly socketPath?: string | undefined;
}

/** Connects to a command by its CRI streaming URL (Exec and Attach). */
export async function openStreamingCommand(
  url: string,
  streams: CommandStreamOptions,
  options: StreamingUrlOptions,
): Promise<RemoteCommand> {
  // containerd 1.6 does not support version 5.
  const protocols = SPDY_COMMAND_PROTOCOLS.slice(1).join(', ');
  const { headers, connection } = await dial(url, protocols, options);
  const { clock, signal } = options;
  const protocol = String(headers[PROTOCOL_HEADER] ?? '');
  return spdyCommand(connection, { ...streams, protocol, clock, ...(signal && { signal }) });
}

/** Connects to a port by its CRI streaming URL (PortForward). One connection each. */
export async function openStreamingPort(url: string, port: number, options: StreamingUrlOptions): Promise<Duplex> {
  const { connection } = await dial(url, PORT_FORWARD_PROTOCOL, options);
  const client = new PortForwardClient(connection, options.clock);
  const stream = client.open(port);
  stream.once('close', () => client.close());
  return stream;
}

/** The time limit for a server that accepts a connection and does not respond. */
async function dial(url: string, protocols: string, { clock, signal, socketPath }: StreamingUrlOptions): Promise<DialedConnection> {
  using limit = timeoutSignal(clock, LIMITS.dialMs, signal);
  try {
    const dialed = await dialUpgrade(new URL(url), { headers: spdyHeaders(protocols), signal: limit.signal, socketPath });
    const registration = onAbort(signal, () => dialed.connection.destroy());
    dialed.connection.once('close', () => registration[Symbol.dispose]());
    return dialed;
  } catch (error) {
    if (!isTimeout(limit.signal.reason)) throw error;
    throw new Error(`the streaming server did not answer within ${LIMITS.dialMs / 1000} seconds`, { cause: error });
  }
}

function spdyHeaders(protocols: string): Readonly<Record<string, string>> {
  return { connection: 'Upgrade', upgrade: SPDY, [PROTOCOL_HEADER]: protocols };
}
