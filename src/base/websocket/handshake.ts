import { createHash, randomBytes } from 'node:crypto';

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const KEY = /^[A-Za-z0-9+/]{22}==$/;

/** The value of Sec-WebSocket-Accept for a client's key. */
export function webSocketAccept(key: string): string {
  return createHash('sha1')
    .update(key + GUID)
    .digest('base64');
}

export function newWebSocketKey(): string {
  return randomBytes(16).toString('base64');
}

/** Why a WebSocket request is malformed; undefined if it is valid. */
export function handshakeProblem(header: (name: string) => string | undefined): string | undefined {
  const key = header('sec-websocket-key') ?? '';
  if (!KEY.test(key.trim())) return 'the Sec-WebSocket-Key header is missing or malformed';
  if (header('sec-websocket-version')?.trim() !== '13') return 'the version of WebSocket must be 13';
  return undefined;
}
