import type { Duplex } from 'node:stream';
import { handshakeProblem, webSocketAccept } from '#base';
import {
  ACCEPTED_PROTOCOLS_HEADER,
  type HeaderLookup,
  PROTOCOL_HEADER,
  SPDY,
  spdyProtocols,
  upgradeOf,
  webSocketProtocols,
} from './upgrade-headers.ts';

/** An upgrade response: the headers of the 101, and the handler of the connection. */
export interface Upgrade {
  readonly headers: Readonly<Record<string, string>>;
  /** Serves the connection until it is closed. */
  serve(connection: Duplex): Promise<void>;
}

/** An upgrade error, as a response. */
export class UpgradeError extends Error {
  override readonly name = 'UpgradeError';

  constructor(
    readonly code: 400 | 403,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
}

/** The negotiated protocol. */
export interface Agreement {
  readonly type: 'spdy' | 'websocket';
  /** Empty when the client requested none. */
  readonly protocol: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface OfferedProtocols {
  readonly spdy: readonly string[];
  readonly websocket: readonly string[];
}

/** Negotiates one of the offered protocols, by the client's preference. Throws an UpgradeError. */
export function agreeOnUpgrade(header: HeaderLookup, offered: OfferedProtocols): Agreement {
  switch (upgradeOf(header)) {
    case 'spdy':
      return agreeOnSpdy(header, offered.spdy);
    case 'websocket':
      return agreeOnWebSocket(header, offered.websocket);
    default:
      throw new UpgradeError(400, `Upgrade request required`);
  }
}

function agreeOnSpdy(header: HeaderLookup, offered: readonly string[]): Agreement {
  const requested = spdyProtocols(header);
  const protocol = requested.find((name) => offered.includes(name)) ?? '';
  if (protocol === '' && requested.length > 0) {
    const message = `unable to upgrade: unable to negotiate protocol: client supports [${requested.join(' ')}], server accepts [${offered.join(' ')}]`;
    throw new UpgradeError(403, message, { [ACCEPTED_PROTOCOLS_HEADER]: offered.join(', ') });
  }
  const headers = { connection: 'Upgrade', upgrade: SPDY, ...(protocol && { [PROTOCOL_HEADER]: protocol }) };
  return { type: 'spdy', protocol, headers };
}

function agreeOnWebSocket(header: HeaderLookup, offered: readonly string[]): Agreement {
  const problem = handshakeProblem(header);
  if (problem !== undefined) throw new UpgradeError(400, problem);
  const requested = webSocketProtocols(header);
  const protocol = requested.find((name) => offered.includes(name)) ?? '';
  if (protocol === '' && requested.length > 0)
    throw new UpgradeError(403, `requested protocol(s) are not supported: [${requested.join(' ')}]; supports [${offered.join(' ')}]`);
  return { type: 'websocket', protocol, headers: webSocketHeaders(header, protocol) };
}

function webSocketHeaders(header: HeaderLookup, protocol: string): Readonly<Record<string, string>> {
  return {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-accept': webSocketAccept((header('sec-websocket-key') ?? '').trim()),
    ...(protocol && { 'sec-websocket-protocol': protocol }),
  };
}
