export { handshakeProblem, newWebSocketKey, webSocketAccept } from './handshake.ts';
export { type SendOptions, WebSocketConnection, type WebSocketOptions } from './websocket-connection.ts';
export { CLOSE as WEBSOCKET_CLOSE, WebSocketError } from './websocket-error.ts';
