import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** What TLS needs, as PEM. */
export interface GrpcTls {
  readonly ca?: string | Buffer;
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
  /** The name that the server's certificate must bear, when it is not the endpoint's. */
  readonly serverName?: string;
}

/** The path of `unix:///path` (or `unix:/path`), undefined for other endpoints. */
export function unixSocketPath(endpoint: string): string | undefined {
  return /^unix:(?:\/\/)?(\/.*)$/s.exec(endpoint)?.[1];
}

/** Whoever opens it listens to its errors. */
export function openSocket(endpoint: string, tls: GrpcTls | undefined): Socket {
  const socketPath = unixSocketPath(endpoint);
  // errors: the caller listens, here and below
  if (socketPath !== undefined) return connectTcp({ path: socketPath });
  const { protocol, hostname, port } = new URL(endpoint);
  const host = hostname.replace(/^\[|\]$/g, '');
  // errors: as above
  if (protocol === 'http:') return connectTcp(Number(port || 80), host);
  if (protocol !== 'https:') throw new TypeError(`${JSON.stringify(endpoint)} is no endpoint: http://, https:// or unix:///path`);
  const name = tls?.serverName ?? (isIP(host) === 0 ? host : undefined);
  // errors: as above
  return connectTls({
    host,
    port: Number(port || 443),
    ALPNProtocols: ['h2'],
    ...(name === undefined ? {} : { servername: name }),
    ...(tls?.ca === undefined ? {} : { ca: tls.ca }),
    ...(tls?.cert === undefined ? {} : { cert: tls.cert }),
    ...(tls?.key === undefined ? {} : { key: tls.key }),
  });
}
