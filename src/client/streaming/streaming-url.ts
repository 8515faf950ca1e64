import type { Duplex } from 'node:stream';
import type { Clock } from '#base';
import { dialUpgrade } from './dial-upgrade.ts';
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
  { clock, signal, socketPath }: StreamingUrlOptions,
): Promise<RemoteCommand> {
  // containerd 1.6 does not support version 5.
  const protocols = SPDY_COMMAND_PROTOCOLS.slice(1).join(', ');
  const { headers, connection } = await dialUpgrade(new URL(url), { headers: spdyHeaders(protocols), signal, socketPath });
  const protocol = String(headers[PROTOCOL_HEADER] ?? '');
  return spdyCommand(connection, { ...streams, protocol, clock, ...(signal && { signal }) });
}

/** Connects to a port by its CRI streaming URL (PortForward). One connection each. */
export async function openStreamingPort(url: string, port: number, { clock, signal, socketPath }: StreamingUrlOptions): Promise<Duplex> {
  const { connection } = await dialUpgrade(new URL(url), { headers: spdyHeaders(PORT_FORWARD_PROTOCOL), signal, socketPath });
  const client = new PortForwardClient(connection, clock);
  const stream = client.open(port);
  stream.once('close', () => client.close());
  return stream;
}

function spdyHeaders(protocols: string): Readonly<Record<string, string>> {
  return { connection: 'Upgrade', upgrade: SPDY, [PROTOCOL_HEADER]: protocols };
}
