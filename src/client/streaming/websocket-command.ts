import type { Duplex } from 'node:stream';
import { type Clock, keepAlive, type WebSocketConnection } from '#base';
import { decodeOutcome, encodeOutcome, outcomeText } from './command-status.ts';
import { LIMITS } from './limits.ts';
import type { CommandSession, CommandStreamOptions, RemoteCommand } from './remote-command.ts';
import { encodeSize, TerminalSizes } from './terminal-sizes.ts';
import { BASE64_PROTOCOL, CHANNEL_PROTOCOL, WebSocketChannels } from './websocket-channels.ts';

const CHANNEL = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4 } as const;

/** In client preference order. */
export const WEBSOCKET_COMMAND_PROTOCOLS: readonly string[] = [
  `v5.${CHANNEL_PROTOCOL}`,
  `v4.${CHANNEL_PROTOCOL}`,
  `v4.${BASE64_PROTOCOL}`,
  CHANNEL_PROTOCOL,
  BASE64_PROTOCOL,
];

/** Options of a command over WebSocket; `closeMs` limits how long a peer may keep a finished connection open. */
export interface WebSocketCommandOptions extends CommandStreamOptions {
  readonly protocol: string;
  readonly clock: Clock;
}

/** A client's command over an established WebSocket. */
export function webSocketCommandSession(transport: Duplex, options: WebSocketCommandOptions): CommandSession {
  const { protocol, clock, tty } = options;
  const channels = new WebSocketChannels(transport, { role: 'server', protocol });
  const { socket } = channels;
  const sizes = new TerminalSizes();
  const alive = webSocketKeepAlive(socket, clock);
  channels.listen(CHANNEL.resize, { data: (chunk) => sizes.write(chunk), end: () => {} });
  const session: CommandSession = {
    ...(options.stdin && { stdin: channels.readable(CHANNEL.stdin) }),
    ...(options.stdout && { stdout: channels.writable(CHANNEL.stdout) }),
    ...(options.stderr && !tty && { stderr: channels.writable(CHANNEL.stderr) }),
    onResize: (listener) => sizes.listen(listener),
    finish: (outcome) => {
      const text = /^v[45]\./.test(protocol) ? encodeOutcome(outcome) : outcomeText(outcome);
      if (text !== '') channels.send(CHANNEL.error, Buffer.from(text));
      socket.close();
      const timer = clock.setTimer(LIMITS.closeMs, () => socket.destroy());
      void socket.closed.then(() => timer.cancel());
    },
    closed: socket.closed,
    destroy: () => socket.destroy(),
  };
  void socket.closed.then(() => {
    alive[Symbol.dispose]();
    channels.endAll();
  });
  // An empty message signals that the connection is up, before the first output.
  channels.send(options.stdout ? CHANNEL.stdout : options.stderr ? CHANNEL.stderr : CHANNEL.error, Buffer.alloc(0));
  return session;
}

/** Closes the connection when the peer does not respond to pings. */
export function webSocketKeepAlive(socket: WebSocketConnection, clock: Clock): Disposable {
  return keepAlive({
    clock,
    intervalMs: LIMITS.keepAliveMs,
    activity: () => socket.activity,
    ping: () => socket.ping(),
    stalledSide: () => socket.stalledSide,
    onDead: () => socket.destroy(),
  });
}

/** The client side of a command over an established WebSocket. */
export function webSocketCommand(transport: Duplex, options: WebSocketCommandOptions): RemoteCommand {
  const { protocol, clock, tty } = options;
  const channels = new WebSocketChannels(transport, { role: 'client', protocol });
  const { socket } = channels;
  const alive = webSocketKeepAlive(socket, clock);
  const status: Buffer[] = [];
  let length = 0;
  channels.listen(CHANNEL.error, {
    data: (chunk) => {
      length += chunk.length;
      if (length <= LIMITS.statusBytes) status.push(Buffer.from(chunk));
    },
    end: () => {},
  });
  const exit = socket.closed.then(() => {
    alive[Symbol.dispose]();
    channels.endAll();
    const outcome = decodeOutcome(Buffer.concat(status).toString(), /^v[45]\./.test(protocol));
    if (outcome.type === 'failed') throw new Error(outcome.message);
    return { exitCode: outcome.exitCode };
  });
  exit.catch(() => {});
  return {
    ...(options.stdin && { stdin: channels.writable(CHANNEL.stdin) }),
    ...(options.stdout && { stdout: channels.readable(CHANNEL.stdout) }),
    ...(options.stderr && !tty && { stderr: channels.readable(CHANNEL.stderr) }),
    ...(tty && { resize: (width: number, height: number) => channels.send(CHANNEL.resize, encodeSize(width, height)) }),
    exit,
  };
}
