export { acceptByteStream } from './accept-byte-stream.ts';
export { type AcceptCommandOptions, acceptCommand } from './accept-command.ts';
export { type AcceptPortForwardOptions, acceptPortForward, isTunnelRequest } from './accept-port-forward.ts';
export { decodeOutcome, encodeOutcome } from './command-status.ts';
export { type DialedConnection, type DialOptions, dialUpgrade, NotUpgradedError } from './dial-upgrade.ts';
export { joinDuplexes } from './join-duplexes.ts';
export { isPort, PORT_FORWARD_PROTOCOL, type PortDialer, PortForwardClient, servePortForward } from './port-forward.ts';
export { relayCommand } from './relay-command.ts';
export type { CommandOutcome, CommandSession, CommandStreamOptions, RemoteCommand, TerminalSize } from './remote-command.ts';
export { SPDY_COMMAND_PROTOCOLS, type SpdyCommandOptions, spdyCommand, spdyCommandSession } from './spdy-command.ts';
export { openStreamingCommand, openStreamingPort, type StreamingUrlOptions } from './streaming-url.ts';
export { type Agreement, agreeOnUpgrade, type OfferedProtocols, type Upgrade, UpgradeError } from './upgrade.ts';
export { type HeaderLookup, PROTOCOL_HEADER, SPDY, spdyProtocols, upgradeOf, webSocketProtocols } from './upgrade-headers.ts';
export {
  WEBSOCKET_COMMAND_PROTOCOLS,
  type WebSocketCommandOptions,
  webSocketCommand,
  webSocketCommandSession,
} from './websocket-command.ts';
export { webSocketTunnel } from './websocket-tunnel.ts';
