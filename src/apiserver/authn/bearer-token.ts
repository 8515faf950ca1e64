import { type ApiRequest, warn } from '../request/api-request.ts';

const EXTRA_SPACE = 'the provided Authorization header contains extra space before the bearer token, and is ignored';

/** The token in the Authorization header, if there is one. */
export function bearerToken(request: ApiRequest): string | undefined {
  const header = request.header('authorization');
  if (header === undefined) return undefined;
  const [scheme = '', token = '', rest] = header.trim().split(' ', 3);
  if (scheme.toLowerCase() !== 'bearer') return undefined;
  if (token === '' && rest !== undefined) warn(request, EXTRA_SPACE);
  return token === '' ? undefined : token;
}

const PROTOCOL_PREFIX = 'base64url.bearer.authorization.k8s.io.';

/**
 * The token in a WebSocket subprotocol, for browsers, which cannot set headers. Throws when it is invalid: it must be unique, well
 * encoded, and accompanied by another protocol that the server can select.
 */
export function webSocketToken(request: ApiRequest): string | undefined {
  const header = request.header('sec-websocket-protocol');
  if (header === undefined || request.header('upgrade')?.toLowerCase() !== 'websocket') return undefined;
  const protocols = header.split(',').map((protocol) => protocol.trim());
  const tokens = protocols.filter((protocol) => protocol.startsWith(PROTOCOL_PREFIX));
  if (tokens.length === 0) return undefined;
  if (tokens.length > 1) throw new Error('multiple base64.bearer.authorization tokens specified');
  if (protocols.length === tokens.length) throw new Error('missing additional subprotocol');
  return decoded(tokens[0]!.slice(PROTOCOL_PREFIX.length));
}

function decoded(text: string): string {
  if (!/^[A-Za-z0-9_-]+$/.test(text)) throw new Error('invalid base64.bearer.authorization token encoding');
  return Buffer.from(text, 'base64url').toString('utf8');
}
