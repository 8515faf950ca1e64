import type { Clock } from '#base';
import type { CommandSession, CommandStreamOptions } from './remote-command.ts';
import { SPDY_COMMAND_PROTOCOLS, spdyCommandSession } from './spdy-command.ts';
import { agreeOnUpgrade, type Upgrade } from './upgrade.ts';
import type { HeaderLookup } from './upgrade-headers.ts';
import { WEBSOCKET_COMMAND_PROTOCOLS, webSocketCommandSession } from './websocket-command.ts';

export interface AcceptCommandOptions extends CommandStreamOptions {
  readonly clock: Clock;
  /** Runs the session. Resolves when it is over. */
  readonly run: (session: CommandSession) => Promise<void>;
}

/** Accepts an exec or attach request over SPDY or WebSocket, in any protocol version. Throws an UpgradeError. */
export function acceptCommand(header: HeaderLookup, options: AcceptCommandOptions): Upgrade {
  const { type, protocol, headers } = agreeOnUpgrade(header, { spdy: SPDY_COMMAND_PROTOCOLS, websocket: WEBSOCKET_COMMAND_PROTOCOLS });
  return {
    headers,
    serve: async (connection) => {
      const open = type === 'spdy' ? spdyCommandSession : webSocketCommandSession;
      const session = await open(connection, { ...options, protocol });
      await options.run(session);
    },
  };
}
