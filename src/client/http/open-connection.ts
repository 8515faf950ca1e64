import tls, { type ConnectionOptions, type TLSSocket } from 'node:tls';
import { type Clock, dialedConnection } from '#base';
import type { ConnectionConfig } from './connection-config.ts';
import type { Credentials } from './credentials.ts';
import type { HttpConnection } from './http-connection.ts';
import { Http1Connection } from './http1-connection.ts';
import { Http2Connection } from './http2-connection.ts';

/** Connects with the best protocol that the server supports. The first socket decides; others are opened on demand. */
export async function openConnection(config: ConnectionConfig, credentials: Credentials, clock: Clock): Promise<HttpConnection> {
  const { origin, protocol } = new URL(config.server);
  if (protocol === 'http:') return new Http1Connection(origin, {}, config.dial);
  const options = await tlsOptions(config, credentials);
  const first = await connectTls(options, config);
  if (first.alpnProtocol !== 'h2') {
    first.destroy();
    return new Http1Connection(origin, options, config.dial);
  }
  return new Http2Connection({ origin, clock, first, connect: async () => connectTls(await tlsOptions(config, credentials), config) });
}

async function tlsOptions(config: ConnectionConfig, credentials: Credentials): Promise<ConnectionOptions> {
  const { hostname, port } = new URL(config.server);
  const host = hostname.replace(/^\[|\]$/g, '');
  const servername = config.tlsServerName ?? (isAddress(host) ? '' : host);
  return {
    host,
    port: Number(port || 443),
    servername,
    ALPNProtocols: ['h2', 'http/1.1'],
    ...(config.ca && { ca: config.ca }),
    ...(config.insecureSkipTlsVerify && { rejectUnauthorized: false }),
    ...(await credentials.certificate()),
  };
}

/** SNI is for host names; addresses have none. */
function isAddress(host: string): boolean {
  return host.includes(':') || /^\d+(\.\d+){3}$/.test(host);
}

function connectTls(options: ConnectionOptions, { dial }: ConnectionConfig): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const { host = '', port = 443 } = options;
    const socket = tls.connect({ ...options, ...(dial && { socket: dialedConnection(dial, { host, port: Number(port) }) }) });
    socket.setNoDelay(true);
    // Not removed: an idle socket may break before a session takes it, which notices that it is closed.
    socket.on('error', reject);
    socket.once('secureConnect', () => resolve(socket));
  });
}
