import http from 'node:http';
import http2 from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { createTlsPort, DeadPeerMonitor, type Logger, listenOn, type ServingCertificates } from '#base';
import type { Exchange } from './exchange.ts';
import { Http1Exchange } from './http1-exchange.ts';
import { Http2Exchange } from './http2-exchange.ts';
import { IdleSessions } from './idle-sessions.ts';
import { UpgradeExchange } from './upgrade-exchange.ts';

export interface ListenerOptions {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  readonly tls: ServingCertificates;
  /** Resolves when the exchange is over; never rejects. */
  readonly handle: (exchange: Exchange) => Promise<void>;
  readonly logger: Logger;
  readonly maxConcurrentStreams?: number;
  /** How long a client may take to send its headers. */
  readonly headersTimeoutMs?: number;
}

export interface Listener {
  readonly port: number;
  /** Refuses new connections and asks clients to reconnect elsewhere. Requests in flight continue. */
  drain(): void;
  /** Replaces the certificate for new connections. */
  useCertificate(certificates: ServingCertificates): void;
  /** Drains, waits for responses until `grace`, then closes the remaining connections. */
  close(grace: Promise<void>): Promise<void>;
}

// Time for slow proxies; slower clients are disconnected.
const HEADERS_TIMEOUT_MS = 30_000;
const HANDSHAKE_TIMEOUT_MS = 10_000;
// Detects peers that disappeared.
const KEEP_ALIVE_MS = 15_000;
// Node's default of 10 MB would reject further requests on a connection while a large list is pending.
const SESSION_MEMORY_MB = 1000;

/**
 * One TLS port for HTTP/1.1 and HTTP/2. Each protocol has its own server object and is handed its connections after the handshake: so HTTP/2
 * is served through the stream interface alone, without the cost of Node's compatibility layer.
 */
export async function listen(options: ListenerOptions): Promise<Listener> {
  const connections = new Set<TLSSocket>();
  const peers = new DeadPeerMonitor();
  const headersTimeout = Math.min(options.headersTimeoutMs ?? HEADERS_TIMEOUT_MS, HEADERS_TIMEOUT_MS);
  // Connections that are unused, or that violated the protocol, are closed.
  const idleTimeout = 4 * headersTimeout;
  /** Never rejects. */
  const serve = async (exchange: () => Exchange): Promise<void> => {
    try {
      await options.handle(exchange());
    } catch (error) {
      options.logger.error('a request was not served to its end', { error });
    }
  };
  // errors: it does not listen; those of its connections are handled where they are accepted
  const http1 = http.createServer(
    { headersTimeout, requestTimeout: 0, keepAliveTimeout: idleTimeout, connectionsCheckingInterval: headersTimeout / 4 },
    (request, response) => void serve(() => new Http1Exchange(request, response)),
  );
  http1.on('upgrade', (request, socket, head) => void serve(() => new UpgradeExchange(request, socket, head)));
  // Sockets are passed in, so it never listens; Node enforces time limits only on listening servers.
  http1.emit('listening');
  const sessions = new Set<http2.ServerHttp2Session>();
  const idle = new IdleSessions(idleTimeout);
  // errors: as for HTTP/1.1
  const multiplexed = http2.createServer({
    maxSessionMemory: SESSION_MEMORY_MB,
    settings: { maxConcurrentStreams: options.maxConcurrentStreams ?? 1000, initialWindowSize: 1 << 20 },
  });
  multiplexed.on('session', (session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
    session.on('error', () => session.destroy());
    idle.add(session);
  });
  // Node passes the raw header lines, which its types omit.
  multiplexed.on('stream', (stream, headers, _flags, rawHeaders: readonly string[] = []) => {
    stream.on('error', () => {});
    const { session } = stream;
    if (session === undefined) return;
    idle.begin(session);
    const exchange = () => new Http2Exchange(stream, headers, session.socket as TLSSocket, rawHeaders);
    const ended = () => idle.end(session);
    void serve(exchange).then(ended, ended);
  });
  const port = createTlsPort(options.tls, {
    ALPNProtocols: ['h2', 'http/1.1'],
    requestCert: options.tls.ca !== undefined,
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    onConnection: (socket) => {
      connections.add(socket);
      peers.add(socket);
      socket.setNoDelay(true);
      socket.setKeepAlive(true, KEEP_ALIVE_MS);
      socket.once('close', () => connections.delete(socket));
      socket.on('error', () => socket.destroy());
      (socket.alpnProtocol === 'h2' ? multiplexed : http1).emit('connection', socket);
    },
  });
  const server = port.listener;
  await listenOn(server, { host: options.host, port: options.port }, options.logger);
  let closed: Promise<void> | undefined;
  const drain = () => {
    closed ??= new Promise<void>((resolve) => server.close(() => resolve()));
    for (const session of sessions) session.close();
    http1.closeIdleConnections();
    for (const socket of connections) if (isIdleHttp1(socket)) socket.end();
    return closed;
  };
  return {
    port: (server.address() as AddressInfo).port,
    useCertificate: (certificates) => port.useCertificates(certificates),
    drain: () => void drain(),
    async close(grace) {
      const closed = drain();
      await Promise.race([closed, grace]);
      idle.stop();
      peers[Symbol.dispose]();
      for (const session of sessions) session.destroy();
      for (const socket of connections) socket.destroy();
      http1.close();
      multiplexed.close();
      await closed;
    },
  };
}

function isIdleHttp1(socket: TLSSocket & { _httpMessage?: unknown }): boolean {
  return socket.alpnProtocol !== 'h2' && !socket._httpMessage;
}
