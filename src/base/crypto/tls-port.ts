import { createServer, type Server } from 'node:net';
import tls, { type SecureContextOptions, type TLSSocket, type TlsOptions } from 'node:tls';
import { certificatesByAddress, type SniSource, sniContexts } from './sni-certificates.ts';

export type ServingCertificates = SecureContextOptions & SniSource;

export interface TlsPortOptions extends Pick<TlsOptions, 'ALPNProtocols' | 'ALPNCallback' | 'requestCert' | 'handshakeTimeout'> {
  /** Called after the handshake. Errors of the socket are the caller's. */
  readonly onConnection: (socket: TLSSocket) => void;
}

export interface TlsPort {
  /** Not listening yet. */
  readonly listener: Server;
  /** Replaces the certificates for new connections. Throws if they cannot be used. */
  useCertificates(certificates: ServingCertificates): void;
}

/**
 * A port that chooses its certificate by SNI, and for clients without SNI by the address that they connected to. Node only supports SNI:
 * each address with its own certificate gets its own TLS server, which does not listen.
 */
export function createTlsPort(certificates: ServingCertificates, options: TlsPortOptions): TlsPort {
  let servers = tlsServers(certificates, options);
  return {
    // errors: listenOn; those of connections are handled by their TLS sockets
    listener: createServer((socket) => {
      const { own, byAddress } = servers;
      const server = byAddress.size === 0 ? own : (byAddress.get(plainAddress(socket.localAddress)) ?? own);
      server.emit('connection', socket);
    }),
    useCertificates: (renewed) => {
      servers = tlsServers(renewed, options);
    },
  };
}

interface TlsServers {
  readonly own: tls.Server;
  readonly byAddress: ReadonlyMap<string, tls.Server>;
}

function tlsServers(certificates: ServingCertificates, options: TlsPortOptions): TlsServers {
  const contextFor = sniContexts(certificates);
  const ownContext = tls.createSecureContext(certificates);
  const { sniCertificates: _, ...own } = certificates;
  // A client that requests an unknown name gets the server's own certificate, for any address.
  const chooseByName: TlsOptions['SNICallback'] = (serverName, use) => use(null, contextFor(serverName) ?? ownContext);
  const serverWith = (pair: SecureContextOptions) => tlsServer({ ...pair, SNICallback: chooseByName }, options);
  const addresses = [...certificatesByAddress(certificates)];
  return {
    own: serverWith(own),
    byAddress: new Map(addresses.map(([address, { cert, key }]) => [address, serverWith({ ...own, cert, key })])),
  };
}

function tlsServer(settings: TlsOptions, { onConnection, ...options }: TlsPortOptions): tls.Server {
  // errors: it does not listen
  const server = tls.createServer({ ...settings, ...options, rejectUnauthorized: false });
  server.on('secureConnection', onConnection);
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  return server;
}

/** Without the prefix of IPv4 addresses on a socket of both families. */
function plainAddress(address = ''): string {
  return address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address;
}
