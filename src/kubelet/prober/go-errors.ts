import { goQuote } from '#machinery';

/** Go's texts for connection errors, which users search for in events. */
const SYSTEM_ERRORS = new Map([
  ['ECONNREFUSED', 'connection refused'],
  ['ECONNRESET', 'connection reset by peer'],
  ['EHOSTUNREACH', 'no route to host'],
  ['ENETUNREACH', 'network is unreachable'],
  ['EADDRNOTAVAIL', 'cannot assign requested address'],
  ['EACCES', 'permission denied'],
  ['EINVAL', 'invalid argument'],
]);

/** `dial tcp 10.0.0.1:80: connect: connection refused`. */
export function dialErrorText(address: string, error: NodeJS.ErrnoException): string {
  const { code = '', message } = error;
  const prefix = `dial tcp ${address}: `;
  if (code === 'ETIMEDOUT') return `${prefix}i/o timeout`;
  const lookup = `dial tcp: lookup ${address.slice(0, address.lastIndexOf(':'))}: `;
  if (code === 'ENOTFOUND') return `${lookup}no such host`;
  if (code === 'EAI_AGAIN') return `${lookup}Temporary failure in name resolution`;
  const words = SYSTEM_ERRORS.get(code);
  return words === undefined ? `${prefix}${message}` : `${prefix}connect: ${words}`;
}

/** Go's error of an HTTPS request to a server without TLS. */
export const HTTP_INSTEAD_OF_HTTPS = 'http: server gave HTTP response to HTTPS client';

/** An error of an established connection. */
export function readErrorText(error: NodeJS.ErrnoException): string {
  const { code = '', message } = error;
  if (code === 'ECONNRESET') return isHangUp(message) ? 'EOF' : 'read: connection reset by peer';
  if (code === 'EPROTO' && message.includes('wrong version number')) return HTTP_INSTEAD_OF_HTTPS;
  if (code.startsWith('HPE_')) return `net/http: HTTP/1.x transport connection broken: ${malformedText(error)}`;
  return SYSTEM_ERRORS.get(code) ?? message;
}

const MAX_LINE_BYTES = 4096;

/** What Go finds wrong in the first line of an answer that is no HTTP. */
function malformedText(error: NodeJS.ErrnoException & { readonly rawPacket?: Buffer }): string {
  const text = error.rawPacket?.subarray(0, MAX_LINE_BYTES).toString('latin1') ?? '';
  const end = text.indexOf('\n');
  if (end < 0) return 'unexpected EOF';
  const line = text.slice(0, end).replace(/\r$/, '');
  const space = line.indexOf(' ');
  if (space < 0) return `malformed HTTP response ${goQuote(line)}`;
  const code =
    line
      .slice(space + 1)
      .trimStart()
      .split(' ', 1)[0] ?? '';
  if (!/^\d{3}$/.test(code)) return `malformed HTTP status code ${goQuote(code)}`;
  const version = line.slice(0, space);
  return /^HTTP\/\d\.\d$/.test(version) ? `malformed MIME header` : `malformed HTTP version ${goQuote(version)}`;
}

/** Node's messages when the peer closes the connection before its response, or during the TLS handshake. */
function isHangUp(message: string): boolean {
  return message === 'socket hang up' || message.startsWith('Client network socket disconnected');
}

/** Go's net.JoinHostPort. */
export function joinHostPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
