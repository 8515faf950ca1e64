import { connect as connectTcp, isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { type Dialer, dialedConnection } from '../egress/dialer.ts';

/** TLS settings as PEM. */
export interface GrpcTls {
  readonly ca?: string | Buffer;
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
  /** The expected name in the server's certificate, if it differs from the endpoint's. */
  readonly serverName?: string;
}

/** The path of `unix:///path` (or `unix:/path`), undefined for other endpoints. */
export function unixSocketPath(endpoint: string): string | undefined {
  return /^unix:(?:\/\/)?(\/.*)$/s.exec(endpoint)?.[1];
}

/** `dial` connects to hosts instead of TCP; unix sockets are local. Errors are handled by the caller. */
export function openSocket(endpoint: string, tls: GrpcTls | undefined, dial?: Dialer): Duplex {
  const socketPath = unixSocketPath(endpoint);
  // errors: the caller listens, here and below
  if (socketPath !== undefined) return connectTcp({ path: socketPath });
  const { protocol, hostname, port } = new URL(endpoint);
  const host = hostname.replace(/^\[|\]$/g, '');
  const dialed = dial && dialedConnection(dial, { host, port: Number(port || (protocol === 'http:' ? 80 : 443)) });
  // errors: as above
  if (protocol === 'http:') return dialed ?? connectTcp(Number(port || 80), host);
  if (protocol !== 'https:') throw new TypeError(`${JSON.stringify(endpoint)} is no endpoint: http://, https:// or unix:///path`);
  const name = tls?.serverName ?? (isIP(host) === 0 ? host : undefined);
  // errors: as above
  return connectTls({
    host,
    port: Number(port || 443),
    ALPNProtocols: ['h2'],
    ...(dialed && { socket: dialed }),
    ...(name === undefined ? {} : { servername: name }),
    ...(tls?.ca === undefined ? {} : { ca: tls.ca }),
    ...(tls?.cert === undefined ? {} : { cert: tls.cert }),
    ...(tls?.key === undefined ? {} : { key: tls.key }),
  });
}
