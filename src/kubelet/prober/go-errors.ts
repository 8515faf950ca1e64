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
  if (code === 'ENOTFOUND') return `dial tcp: lookup ${address.slice(0, address.lastIndexOf(':'))}: no such host`;
  const words = SYSTEM_ERRORS.get(code);
  return words === undefined ? `${prefix}${message}` : `${prefix}connect: ${words}`;
}

/** An error of an established connection. */
export function readErrorText(error: NodeJS.ErrnoException): string {
  const { code = '', message } = error;
  if (code === 'ECONNRESET') return isHangUp(message) ? 'EOF' : 'read: connection reset by peer';
  if (code === 'EPROTO' && message.includes('wrong version number')) return 'http: server gave HTTP response to HTTPS client';
  if (code.startsWith('HPE_')) return `malformed HTTP response`;
  return SYSTEM_ERRORS.get(code) ?? message;
}

/** Node's messages when the peer closes the connection before its response, or during the TLS handshake. */
function isHangUp(message: string): boolean {
  return message === 'socket hang up' || message.startsWith('Client network socket disconnected');
}

/** Go's net.JoinHostPort. */
export function joinHostPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
