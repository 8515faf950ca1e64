import type { Duplex } from 'node:stream';
import type { Clock } from '#base';
import { duplexOf } from './duplex-of.ts';
import { joinPort, type PortDialer } from './port-forward.ts';
import { BASE64_PROTOCOL, CHANNEL_PROTOCOL, WebSocketChannels } from './websocket-channels.ts';
import { webSocketKeepAlive } from './websocket-command.ts';

export const CHANNEL_PORT_FORWARD_PROTOCOLS: readonly string[] = [`v4.${CHANNEL_PROTOCOL}`, `v4.${BASE64_PROTOCOL}`];

export interface ChannelPortForward {
  /** From the query, in order. */
  readonly ports: readonly number[];
  readonly protocol: string;
  readonly dial: PortDialer;
  readonly clock: Clock;
}

/**
 * Serves port-forward over WebSocket channels: one connection per port, with channel 2i for data and 2i+1 for errors.
 * Each channel starts with its port, two bytes little-endian.
 */
export async function serveChannelPortForward(transport: Duplex, { ports, protocol, dial, clock }: ChannelPortForward): Promise<void> {
  const channels = new WebSocketChannels(transport, { role: 'server', protocol });
  const { socket } = channels;
  const alive = webSocketKeepAlive(socket, clock);
  const done = socket.closed.then(() => {
    alive[Symbol.dispose]();
    channels.endAll();
  });
  await Promise.all(ports.map((port, index) => forwardChannel(channels, { port, data: index * 2, error: index * 2 + 1, dial })));
  socket.close();
  await done;
}

interface ForwardedPort {
  readonly port: number;
  readonly data: number;
  readonly error: number;
  readonly dial: PortDialer;
}

async function forwardChannel(channels: WebSocketChannels, { port, data, error, dial }: ForwardedPort): Promise<void> {
  const announcement = Buffer.alloc(2);
  announcement.writeUInt16LE(port);
  for (const channel of [data, error]) channels.send(channel, announcement);
  const local = duplexOf(channels.readable(data), channels.writable(data));
  await joinPort(
    local,
    () => dial(port),
    (message) => channels.send(error, Buffer.from(message)),
  );
  local.destroy();
}
