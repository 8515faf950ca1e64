import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import {
  createTlsPort,
  DeadPeerMonitor,
  Http2Server,
  type Logger,
  listenOn,
  MAX_REQUEST_HEADER_BYTES,
  realClock,
  type ServerConnection,
  type ServingCertificates,
} from '#base';
import type { Exchange } from './exchange.ts';
import { HttpDate } from './http-date.ts';
import { Http1Exchange } from './http1-exchange.ts';
import { Http2Exchange } from './http2-exchange.ts';
import { IdleConnections } from './idle-connections.ts';
import { UnreadResponses } from './unread-responses.ts';
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
  /** What responses may hold that clients do not read. */
  readonly unreadBytes?: number;
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
const MAX_CONCURRENT_STREAMS = 1000;
/** Response headers whose values recur from request to request. */
const RECURRING_FIELDS = [
  'cache-control',
  'content-encoding',
  'content-type',
  'date',
  'vary',
  'x-content-type-options',
  'x-kubernetes-pf-flowschema-uid',
  'x-kubernetes-pf-prioritylevel-uid',
];

/**
 * One TLS port for HTTP/1.1 and HTTP/2. After the handshake a connection is passed to the server object of its protocol: Node's for
 * HTTP/1.1, and our own for HTTP/2, which creates no Node stream per request.
 */
export async function listen(options: ListenerOptions): Promise<Listener> {
  const connections = new Set<TLSSocket>();
  const date = new HttpDate(realClock);
  const unread = new UnreadResponses(options.logger, options.unreadBytes);
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
  // errors: it does not listen; connections are handled where they are accepted
  const http1 = http.createServer(
    {
      ...{ headersTimeout, requestTimeout: 0, keepAliveTimeout: idleTimeout, connectionsCheckingInterval: headersTimeout / 4 },
      maxHeaderSize: MAX_REQUEST_HEADER_BYTES,
    },
    (request, response) => void serve(() => new Http1Exchange(request, response, unread)),
  );
  http1.on('upgrade', (request, socket, head) => void serve(() => new UpgradeExchange(request, socket, { head, unread })));
  // Sockets are passed in, so it never listens; Node enforces time limits only on listening servers.
  http1.emit('listening');
  const multiplexed = new Set<ServerConnection>();
  const idle = new IdleConnections(idleTimeout);
  const http2 = new Http2Server({
    maxConcurrentStreams: options.maxConcurrentStreams ?? MAX_CONCURRENT_STREAMS,
    recurringFields: RECURRING_FIELDS,
    onStream: (stream, connection, release) => {
      idle.begin(connection);
      const ended = () => {
        release();
        idle.end(connection);
      };
      void serve(() => new Http2Exchange(stream, connection, { date, unread })).then(ended, ended);
    },
  });
  const serveHttp2 = (socket: TLSSocket) => {
    const connection = http2.serve(socket);
    multiplexed.add(connection);
    socket.once('close', () => multiplexed.delete(connection));
    idle.add(connection);
  };
  const port = createTlsPort(options.tls, {
    ALPNCallback: agreeOnProtocol,
    requestCert: options.tls.ca !== undefined,
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    onConnection: (socket) => {
      connections.add(socket);
      peers.add(socket);
      socket.setNoDelay(true);
      socket.setKeepAlive(true, KEEP_ALIVE_MS);
      socket.once('close', () => connections.delete(socket));
      socket.on('error', () => socket.destroy());
      if (socket.alpnProtocol === 'h2') serveHttp2(socket);
      else http1.emit('connection', socket);
    },
  });
  const server = port.listener;
  await listenOn(server, { host: options.host, port: options.port }, options.logger);
  let closed: Promise<void> | undefined;
  const drain = () => {
    closed ??= new Promise<void>((resolve) => server.close(() => resolve()));
    for (const connection of multiplexed) connection.close();
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
      for (const socket of connections) socket.destroy();
      http1.close();
      await closed;
    },
  };
}

const PROTOCOLS = ['h2', 'http/1.1'];

/**
 * A callback instead of Node's list of protocols: each connection would copy the list into a slab of Buffer's pool, and keep the slab
 * alive.
 */
function agreeOnProtocol({ protocols }: { readonly protocols: readonly string[] }): string | undefined {
  return PROTOCOLS.find((protocol) => protocols.includes(protocol));
}

function isIdleHttp1(socket: TLSSocket & { _httpMessage?: unknown }): boolean {
  return socket.alpnProtocol !== 'h2' && !socket._httpMessage;
}
