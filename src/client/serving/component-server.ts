import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { SecureVersion, TLSSocket } from 'node:tls';
import {
  type Component,
  createTlsPort,
  type Logger,
  listenOn,
  METRICS_CONTENT_TYPE,
  type MetricsRegistry,
  runComponent,
  type SniSource,
  waitForAbort,
} from '#base';
import {
  ANONYMOUS,
  bearerToken,
  type Caller,
  callerByCertificate,
  DelegatedAccess,
  type DelegatedAccessDeps,
  type DelegationTimes,
} from './delegated-access.ts';
import { flagzResponse, statuszResponse } from './zpages.ts';

/** PEM texts. */
export interface ComponentCertificates {
  readonly cert: string;
  readonly key: string;
  /** The CA of client certificates. Absent: none are requested. */
  readonly clientCa?: string;
}

export interface ComponentServerConfig {
  /** Upstream's name of the program: `kube-scheduler`. */
  readonly name: string;
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly tls: ComponentCertificates &
    SniSource & {
      readonly ciphers?: string;
      readonly minVersion?: SecureVersion;
      /** In OpenSSL's names. */
      readonly curves?: string;
    };
  /** Paths without authorization; a trailing `*` matches any suffix. */
  readonly alwaysAllowPaths?: readonly string[];
  readonly times?: Partial<DelegationTimes>;
}

export interface ComponentServerDeps extends DelegatedAccessDeps {
  readonly logger: Logger;
  readonly metrics: MetricsRegistry;
  /** Health checks: the error, or undefined. Named as in `/healthz?verbose`. */
  readonly checks: Readonly<Record<string, () => string | undefined>>;
  /** The content of `/configz`, by group name. */
  readonly configuration: () => Readonly<Record<string, unknown>>;
  /** The content of `/flagz`. */
  readonly flags: () => ReadonlyMap<string, string>;
  readonly version: string;
}

export interface ComponentServer extends Component {
  readonly port: number;
  /** Replaces the certificates for new connections. */
  use(certificates: ComponentCertificates): void;
}

/** Upstream's default: probes need no credentials. */
export const ALWAYS_ALLOWED = ['/healthz', '/readyz', '/livez'] as const;
const DEFAULT_TIMES: DelegationTimes = { tokenMs: 10_000, allowedMs: 10_000, deniedMs: 10_000 };
const MAX_CONNECTIONS = 256;
const REQUEST_TIMEOUT_MS = 30_000;
const HANDSHAKE_TIMEOUT_MS = 10_000;

interface ServedResponse {
  readonly code: number;
  readonly body: string;
  /** Default: the content type of plain text. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Health, metrics and configuration of a component over https, with delegated authentication and authorization. */
export function startComponentServer(config: ComponentServerConfig, deps: ComponentServerDeps, signal?: AbortSignal): ComponentServer {
  const access = new DelegatedAccess(deps, { ...DEFAULT_TIMES, ...config.times });
  const { ciphers, curves, minVersion = 'TLSv1.2', sniCertificates } = config.tls;
  const contextOf = ({ cert, key, clientCa: ca }: ComponentCertificates) => ({
    ...{ cert, key, minVersion },
    ...(ca && { ca }),
    ...(ciphers && { ciphers }),
    ...(curves && { ecdhCurve: curves }),
    ...(sniCertificates && { sniCertificates }),
  });
  // errors: it does not listen; Node handles those of its connections
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS });
  // Node enforces time limits only on listening servers.
  server.emit('listening');
  const port = createTlsPort(contextOf(config.tls), {
    ALPNProtocols: ['http/1.1'],
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    requestCert: config.tls.clientCa !== undefined,
    onConnection: (socket) => server.emit('connection', socket),
  });
  port.listener.maxConnections = MAX_CONNECTIONS;
  const startedMs = deps.clock.now();
  const routes = routesOf(config, deps, startedMs);
  server.on('request', (request, response) => void serve(request, response, { config, deps, access, routes }));
  const component = runComponent(signal, async ({ signal: stopping, ready }) => {
    await listenOn(port.listener, { host: config.host, port: config.port }, deps.logger);
    ready();
    await waitForAbort(stopping);
    const closed = new Promise<void>((resolve) => port.listener.close(() => resolve()));
    server.close();
    server.closeAllConnections();
    await closed;
  });
  return {
    ...{ ready: component.ready, done: component.done },
    get port() {
      return (port.listener.address() as AddressInfo | null)?.port ?? config.port;
    },
    use: (certificates) => port.useCertificates(contextOf(certificates)),
    [Symbol.asyncDispose]: () => component[Symbol.asyncDispose](),
  };
}

interface RequestDeps {
  readonly config: ComponentServerConfig;
  readonly deps: ComponentServerDeps;
  readonly access: DelegatedAccess;
  readonly routes: Routes;
}

/** Never rejects. */
async function serve(request: IncomingMessage, response: ServerResponse, requestDeps: RequestDeps): Promise<void> {
  request.resume();
  const {
    code,
    body,
    headers = { 'content-type': 'text/plain; charset=utf-8' },
  } = await respondTo(request, requestDeps).catch((error: unknown) => {
    requestDeps.deps.logger.warn('a request failed', { path: request.url, error });
    return { code: 500, body: 'Internal Server Error\n' } as ServedResponse;
  });
  response.writeHead(code, { ...headers, 'x-content-type-options': 'nosniff' }).end(request.method === 'HEAD' ? '' : body);
}

async function respondTo(request: IncomingMessage, { config, access, routes }: RequestDeps): Promise<ServedResponse> {
  const [path = '/', query = ''] = (request.url ?? '/').split('?', 2);
  const verb = request.method === 'GET' || request.method === 'HEAD' ? 'get' : (request.method ?? '').toLowerCase();
  const isOpen = isAllowedToAll(path, config.alwaysAllowPaths ?? ALWAYS_ALLOWED);
  const caller = await callerOf(request, access);
  if (caller === undefined) return { code: 401, body: 'Unauthorized\n' };
  if (!isOpen && !(await access.isAllowed(caller, { nonResourceAttributes: { path, verb } }))) {
    return { code: 403, body: `Forbidden: "${path}": User "${caller.name}" cannot ${verb} path "${path}"\n` };
  }
  if (verb !== 'get') return { code: 405, body: 'Method Not Allowed\n' };
  return routes(path, new URLSearchParams(query), request.headers.accept) ?? { code: 404, body: '404 page not found\n' };
}

/** An invalid token is rejected, not treated as anonymous. */
async function callerOf(request: IncomingMessage, access: DelegatedAccess): Promise<Caller | undefined> {
  const token = bearerToken(request.headers.authorization);
  return callerByCertificate(request.socket as TLSSocket) ?? (token === undefined ? ANONYMOUS : access.callerByToken(token));
}

function isAllowedToAll(path: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => (pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) : path === pattern));
}

type Route = (query: URLSearchParams, accept: string | undefined) => ServedResponse;
type Routes = (path: string, ...request: Parameters<Route>) => ServedResponse | undefined;

const PATHS = ['/configz', '/flagz', '/healthz', '/livez', '/metrics', '/readyz', '/statusz'];

function routesOf(config: ComponentServerConfig, deps: ComponentServerDeps, startedMs: number): Routes {
  const health = (endpoint: string) => (query: URLSearchParams) => healthResponse(endpoint, deps.checks, query);
  const facts = { name: config.name, version: deps.version, startedMs, paths: PATHS };
  const routes = new Map<string, Route>([
    ...['healthz', 'livez', 'readyz'].map((name) => [`/${name}`, health(name)] as const),
    ['/metrics', () => ({ code: 200, body: deps.metrics.text(), headers: { 'content-type': METRICS_CONTENT_TYPE } })],
    ['/configz', () => ({ code: 200, body: JSON.stringify(deps.configuration()), headers: { 'content-type': 'application/json' } })],
    ['/flagz', (_, accept) => flagzResponse(config.name, deps.flags(), accept)],
    ['/statusz', (_, accept) => statuszResponse({ ...facts, nowMs: deps.clock.now() }, accept)],
  ]);
  return (path, query, accept) => routes.get(path)?.(query, accept) ?? singleCheck(path, deps.checks);
}

function healthResponse(endpoint: string, checks: ComponentServerDeps['checks'], query: URLSearchParams): ServedResponse {
  const excluded = new Set(query.getAll('exclude'));
  const results = Object.entries({ ping: () => undefined, ...checks })
    .filter(([name]) => !excluded.has(name))
    .map(([name, check]) => ({ name, problem: check() }));
  const isFailed = results.some(({ problem }) => problem !== undefined);
  if (!isFailed && !query.has('verbose')) return { code: 200, body: 'ok' };
  const lines = results.map(({ name, problem }) => (problem === undefined ? `[+]${name} ok` : `[-]${name} failed: ${problem}`));
  return { code: isFailed ? 500 : 200, body: `${lines.join('\n')}\n${endpoint} check ${isFailed ? 'failed' : 'passed'}\n` };
}

/** `/healthz/NAME`. */
function singleCheck(path: string, checks: ComponentServerDeps['checks']): ServedResponse | undefined {
  const name = /^\/(?:healthz|livez|readyz)\/([\w-]+)$/.exec(path)?.[1];
  if (name === 'ping') return { code: 200, body: 'ok' };
  if (name === undefined || !Object.hasOwn(checks, name)) return undefined;
  const problem = checks[name]!();
  return problem === undefined ? { code: 200, body: 'ok' } : { code: 500, body: `${problem}\n` };
}
