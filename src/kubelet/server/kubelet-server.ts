import { once } from 'node:events';
import { type IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { SecureVersion, TLSSocket } from 'node:tls';
import { type Component, DeadPeerMonitor, type Logger, listenOn, MAX_REQUEST_HEADER_BYTES, runComponent, waitForAbort } from '#base';
import { type AccessPolicy, CallerGate, type CallerGateDeps } from './caller-gate.ts';
import { type KubeletCall, type KubeletResponse, requestTarget } from './kubelet-call.ts';
import { writeResponse } from './write-response.ts';

export interface KubeletServerConfig {
  readonly nodeName: string;
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly tls: ServingKeys & {
    /** The CA of client certificates; absent: none are requested. */
    readonly clientCa?: string | Buffer | undefined;
    /** As OpenSSL names them, separated by colons. */
    readonly ciphers?: string | undefined;
    /** As OpenSSL names them, separated by colons. */
    readonly curves?: string | undefined;
    readonly minVersion?: SecureVersion | undefined;
  };
  readonly access?: AccessPolicy;
}

/** A certificate with its chain, and its key. PEM texts. */
export interface ServingKeys {
  readonly cert: string | Buffer;
  readonly key: string | Buffer;
}

export interface KubeletServerDeps extends CallerGateDeps {
  readonly logger: Logger;
  readonly handle: (call: KubeletCall) => Promise<KubeletResponse>;
}

export interface KubeletServer extends Component {
  /** Valid once it is ready. */
  readonly port: number;
  /** Replaces the certificate for new connections. */
  use(keys: ServingKeys): void;
}

const KEEP_ALIVE_MS = 15_000;

/** The kubelet's API over https, for API servers and others elsewhere. */
export function startKubeletServer(config: KubeletServerConfig, deps: KubeletServerDeps, signal?: AbortSignal): KubeletServer {
  const connectionDeps = { ...deps, gate: new CallerGate(config.nodeName, deps, config.access) };
  const { cert, key, clientCa, ciphers, curves, minVersion = 'TLSv1.2' } = config.tls;
  const context = {
    minVersion,
    ...(clientCa !== undefined && { ca: clientCa }),
    ...(ciphers !== undefined && { ciphers }),
    ...(curves !== undefined && { ecdhCurve: curves }),
  };
  const server = createServer({
    ...{ ...context, cert, key, requestCert: clientCa !== undefined, rejectUnauthorized: false },
    maxHeaderSize: MAX_REQUEST_HEADER_BYTES,
    // By default each connection keeps a copy of a list of protocols in a slab of Buffer's pool, and so the slab.
    ALPNCallback: ({ protocols }) => protocols.find((protocol) => protocol === 'http/1.1'),
  });
  const upgraded = new Set<Duplex>();
  const peers = new DeadPeerMonitor();
  server.on('secureConnection', (socket) => {
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    peers.add(socket);
  });
  server.on('request', (request, response) => void serve(request, response, connectionDeps));
  server.on('upgrade', (request, socket, head) => {
    upgraded.add(socket);
    socket.once('close', () => upgraded.delete(socket));
    socket.on('error', () => socket.destroy());
    if (head.length > 0) socket.unshift(head);
    void serveUpgrade(request, socket, connectionDeps);
  });
  const component = runComponent(signal, async ({ signal: stopping, ready }) => {
    await listenOn(server, { host: config.host, port: config.port }, deps.logger);
    ready();
    await waitForAbort(stopping);
    peers[Symbol.dispose]();
    await close(server, upgraded);
  });
  return {
    ...{ ready: component.ready, done: component.done },
    get port() {
      return (server.address() as AddressInfo | null)?.port ?? config.port;
    },
    use: (keys) => server.setSecureContext({ ...context, ...keys }),
    [Symbol.asyncDispose]: () => component[Symbol.asyncDispose](),
  };
}

async function close(server: Server, upgraded: ReadonlySet<Duplex>): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  // Upgraded connections are no longer tracked by the server.
  for (const socket of upgraded) socket.destroy();
  await closed;
}

interface ServingDeps extends KubeletServerDeps {
  readonly gate: CallerGate;
}

/** Never rejects. */
async function serve(request: IncomingMessage, response: ServerResponse, deps: ServingDeps): Promise<void> {
  const left = new AbortController();
  response.on('close', () => left.abort());
  try {
    const answer = await respondTo(request, left.signal, deps);
    if ('serve' in answer) throw new Error('an upgrade of a request that did not ask for it');
    await writeResponse(response, answer, left.signal);
  } catch (error) {
    if (left.signal.aborted) return;
    deps.logger.warn('a request to the kubelet failed', { url: request.url, error });
    if (response.headersSent) response.destroy();
    else response.writeHead(500).end('internal error');
  }
}

/** An upgrade request; it may also get an ordinary response, which closes the connection. Never rejects. */
async function serveUpgrade(request: IncomingMessage, socket: Duplex, deps: ServingDeps): Promise<void> {
  const left = new AbortController();
  socket.once('close', () => left.abort());
  try {
    const answer = await respondTo(request, left.signal, deps);
    if ('serve' in answer) {
      const lines = Object.entries(answer.headers).map(([name, value]) => `${name}: ${value}`);
      socket.write(['HTTP/1.1 101 Switching Protocols', ...lines, '', ''].join('\r\n'));
      await answer.serve(socket);
      socket.destroy();
      return;
    }
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket as never);
    response.once('finish', () => socket.end(() => socket.destroy()));
    await writeResponse(response, answer, left.signal);
  } catch (error) {
    if (!left.signal.aborted) deps.logger.warn('a connection to the kubelet failed', { url: request.url, error });
    socket.destroy();
  }
}

async function respondTo(request: IncomingMessage, signal: AbortSignal, { gate, handle }: ServingDeps): Promise<KubeletResponse> {
  const url = requestTarget(request.url);
  if (url === undefined) return rejectionResponse(400, 'Bad Request');
  const method = request.method ?? 'GET';
  const socket = request.socket as TLSSocket;
  const rejection = await gate.reject({ socket, authorization: request.headers.authorization, method, path: url.pathname });
  if (rejection !== undefined) return rejectionResponse(rejection.code, rejection.message);
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, [value].flat().join(', ')]));
  return handle({ method, path: url.pathname, query: url.searchParams, headers, body: request, signal });
}

function rejectionResponse(code: number, message: string): KubeletResponse {
  return {
    code,
    headers: { 'content-type': 'text/plain; charset=utf-8' },
    body: (async function* () {
      yield Buffer.from(message);
    })(),
  };
}
