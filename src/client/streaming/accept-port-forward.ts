import type { Clock } from '#base';
import { PORT_FORWARD_PROTOCOL, type PortDialer, servePortForward } from './port-forward.ts';
import { agreeOnUpgrade, type Upgrade, UpgradeError } from './upgrade.ts';
import { type HeaderLookup, SPDY, upgradeOf } from './upgrade-headers.ts';
import { CHANNEL_PORT_FORWARD_PROTOCOLS, serveChannelPortForward } from './websocket-port-forward.ts';
import { webSocketTunnel } from './websocket-tunnel.ts';

/** SPDY tunneled through WebSocket messages; the second name is from its first release. */
export const TUNNEL_PROTOCOLS: readonly string[] = [`${SPDY}+${PORT_FORWARD_PROTOCOL}`, 'v2.portforward.k8s.io'];

export interface AcceptPortForwardOptions {
  readonly clock: Clock;
  readonly dial: PortDialer;
  /** The `port` query values, required by WebSocket channels. */
  readonly ports: readonly number[];
}

/** Accepts a port-forward request in any of its protocols. Throws an UpgradeError. */
export function acceptPortForward(header: HeaderLookup, { clock, dial, ports }: AcceptPortForwardOptions): Upgrade {
  const { type, protocol, headers } = agreeOnUpgrade(header, {
    spdy: [PORT_FORWARD_PROTOCOL],
    websocket: [...TUNNEL_PROTOCOLS, ...CHANNEL_PORT_FORWARD_PROTOCOLS],
  });
  if (type === 'spdy') return { headers, serve: (connection) => servePortForward(connection, dial, clock) };
  if (TUNNEL_PROTOCOLS.includes(protocol))
    return { headers, serve: (connection) => servePortForward(webSocketTunnel(connection, 'server'), dial, clock) };
  if (ports.length === 0) throw new UpgradeError(400, 'query parameter "port" is required');
  return { headers, serve: (connection) => serveChannelPortForward(connection, { ports, protocol, dial, clock }) };
}

/** Whether a request tunnels SPDY through a WebSocket. */
export function isTunnelRequest(header: HeaderLookup): boolean {
  if (upgradeOf(header) !== 'websocket') return false;
  return (header('sec-websocket-protocol') ?? '').split(',').some((name) => TUNNEL_PROTOCOLS.includes(name.trim()));
}
