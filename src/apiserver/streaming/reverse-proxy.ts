import { type ClientRequest, request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders, type RequestOptions } from 'node:http';
import { type Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { type Duplex, pipeline, type Readable } from 'node:stream';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { createDeflate, createGunzip, createGzip, createInflate } from 'node:zlib';
import { joinDuplexes } from '#client';
import { StatusError } from '#machinery';
import type { ApiResponse } from '../handlers/api-response.ts';
import type { ApiRequest } from '../request/api-request.ts';
import { htmlRewriter } from './rewrite-html.ts';
import { type ProxiedPlace, rewriteUrl } from './rewrite-url.ts';

/** The target of a proxied request. */
export interface ProxyTarget {
  readonly scheme: 'http' | 'https';
  /** An address, not a name: it was checked, and a name could resolve differently. */
  readonly host: string;
  readonly port: number;
  /** Escaped, with the query. Starts with a slash. */
  readonly path: string;
  /** The prefix of the client's path. */
  readonly pathPrefix: string;
  /** Opens a connection to targets without a network address. */
  readonly connect?: () => Promise<Duplex>;
  /** TLS options. Default: certificates of pods and services are not verified. */
  readonly tls?: ConnectionOptions;
  /** Keeps connections alive. Not used for upgrades. */
  readonly agent?: HttpsAgent;
  /** Added to the client's headers, or replacing them. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Aborts the request. Default: when the client disconnects. */
  readonly signal?: AbortSignal;
}

/** Hop-by-hop headers, and credentials for this server. */
const NOT_PASSED: ReadonlySet<string> = new Set([
  'authorization',
  'connection',
  'content-length',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
const NOT_PASSED_PREFIXES = [':', 'impersonate-', 'x-remote-'];
/** CORS headers: a backend must not open this server's origin. */
const NOT_RETURNED: ReadonlySet<string> = new Set([
  'access-control-allow-credentials',
  'access-control-allow-headers',
  'access-control-allow-methods',
  'access-control-allow-origin',
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'te',
  'trailer',
  'transfer-encoding',
]);
export const BEARER_PROTOCOL = 'base64url.bearer.authorization.k8s.io.';

/** Proxies a request and rewrites links in the response. */
export async function proxyRequest(request: ApiRequest, target: ProxyTarget): Promise<ApiResponse> {
  const place = placeOf(request, target);
  const answer = await send(request, target).catch((error: Error) => {
    throw StatusError.serviceUnavailable(`error trying to reach service: ${error.message}`);
  });
  if ('socket' in answer) return upgradeAnswer(answer);
  const { response } = answer;
  const headers = passedHeaders(response);
  const location = response.headers.location;
  if (location !== undefined) headers.location = rewriteUrl(location, place);
  const isHtml = (response.headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase() === 'text/html';
  const isRewritten = isHtml && location === undefined && request.method !== 'HEAD';
  if (isRewritten) delete headers['content-length'];
  const body = isRewritten ? rewrittenBody(response, place) : response;
  return { type: 'stream', code: response.statusCode ?? 502, contentType: '', body, headers };
}

export type ProxyAnswer = { readonly response: IncomingMessage } | { readonly upgraded: IncomingMessage; readonly socket: Duplex };

const KEEP_ALIVE_MS = 15_000;
const ANY_CERTIFICATE: ConnectionOptions = { rejectUnauthorized: false };

/** Sends the request and resolves with the unmodified response. */
export async function send(request: ApiRequest, target: ProxyTarget): Promise<ProxyAnswer> {
  const { scheme, host, port, path, connect, tls = ANY_CERTIFICATE, signal = request.signal } = target;
  const connection = await connect?.();
  const options = { host, port, path, method: request.method, headers: requestHeaders(request, target), signal };
  // Node honours createConnection only without an agent.
  const own =
    connection === undefined ? { agent: keptAgent(request, target) } : { createConnection: () => secured(connection, target) as never };
  const sent = scheme === 'https' ? httpsRequest({ ...options, ...own, ...tls }) : httpRequest({ ...options, ...own } as RequestOptions);
  const answer = new Promise<ProxyAnswer>((resolve, reject) => {
    // Detects backends that disappeared.
    if (connection === undefined) sent.once('socket', (socket) => socket.setKeepAlive(true, KEEP_ALIVE_MS));
    sent.once('response', (response) => resolve({ response }));
    sent.once('upgrade', (upgraded, socket, head) => {
      // Node removes its own listener; the code that serves the connection sees the close.
      socket.on('error', () => socket.destroy());
      if (head.length > 0) socket.unshift(head);
      resolve({ upgraded, socket });
    });
    sent.on('error', reject);
  });
  sendBody(request, sent);
  return answer;
}

/** Upgraded connections cannot be reused. */
function keptAgent(request: ApiRequest, { agent }: ProxyTarget): HttpsAgent | false {
  return agent === undefined || request.header('upgrade') !== undefined ? false : agent;
}

function secured(connection: Duplex, { scheme, tls = ANY_CERTIFICATE }: ProxyTarget): Duplex {
  // errors: the request that it is given to listens
  return scheme === 'https' ? connectTls({ ...tls, socket: connection }) : connection;
}

function sendBody({ body, method }: ApiRequest, sent: ClientRequest): void {
  if (body.type === 'bytes') {
    if (sent.hasHeader('content-length') || sent.hasHeader('transfer-encoding')) pipeline(body.stream(), sent, () => {});
    else sent.end();
  } else sent.end(body.value === undefined || method === 'GET' || method === 'HEAD' ? undefined : JSON.stringify(body.value));
}

function requestHeaders(request: ApiRequest, { pathPrefix, path, headers: own }: ProxyTarget): OutgoingHttpHeaders {
  const headers: Record<string, string | string[]> = Object.create(null);
  const connectionOptions = new Set(
    (request.header('connection') ?? '')
      .toLowerCase()
      .split(',')
      .map((option) => option.trim()),
  );
  for (const { name, value } of request.headerLines?.('') ?? []) {
    if (NOT_PASSED.has(name) || connectionOptions.has(name) || NOT_PASSED_PREFIXES.some((prefix) => name.startsWith(prefix))) continue;
    const before = headers[name];
    headers[name] = before === undefined ? value : [before, value].flat();
  }
  const upgrade = request.header('upgrade');
  if (upgrade !== undefined && connectionOptions.has('upgrade')) Object.assign(headers, { connection: 'Upgrade', upgrade });
  const protocols = request.header('sec-websocket-protocol');
  if (protocols?.includes(BEARER_PROTOCOL)) headers['sec-websocket-protocol'] = withoutBearer(protocols);
  const [host, length] = [request.header('host') ?? request.header(':authority'), request.header('content-length')];
  if (host) headers.host = host;
  if (length !== undefined) headers['content-length'] = length;
  else if (hasUnsizedBody(request)) headers['transfer-encoding'] = 'chunked';
  headers['x-forwarded-for'] = [request.header('x-forwarded-for'), request.remoteAddress].filter(Boolean).join(', ');
  headers['x-forwarded-uri'] = pathPrefix + path.split('?', 1)[0]!;
  return own === undefined ? headers : { ...headers, ...(own as Record<string, string | string[]>) };
}

export function withoutBearer(protocols: string): string {
  return protocols
    .split(',')
    .map((name) => name.trim())
    .filter((name) => !name.startsWith(BEARER_PROTOCOL))
    .join(', ');
}

/** HTTP/2 bodies need no Content-Length. */
function hasUnsizedBody(request: ApiRequest): boolean {
  if (request.header('transfer-encoding') !== undefined) return true;
  const isHttp2 = request.header(':authority') !== undefined;
  return isHttp2 && request.body.type === 'bytes' && !['GET', 'HEAD', 'DELETE', 'OPTIONS'].includes(request.method);
}

/** The response headers for the client. */
export function passedHeaders({ rawHeaders }: IncomingMessage): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = Object.create(null);
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase();
    if (NOT_RETURNED.has(name)) continue;
    const before = headers[name];
    headers[name] = before === undefined ? rawHeaders[i + 1]! : [before, rawHeaders[i + 1]!].flat();
  }
  return headers;
}

export function upgradeAnswer({ upgraded, socket }: { readonly upgraded: IncomingMessage; readonly socket: Duplex }): ApiResponse {
  const singleHeaders = Object.entries(upgraded.headers).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return { type: 'upgrade', headers: Object.fromEntries(singleHeaders), serve: (connection) => joinDuplexes(connection, socket) };
}

function placeOf(request: ApiRequest, { host, port, pathPrefix }: ProxyTarget): ProxiedPlace {
  const sourceHost = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
  return { sourceHost, requestHost: request.header('host') ?? request.header(':authority') ?? '', pathPrefix };
}

function rewrittenBody(response: IncomingMessage, place: ProxiedPlace): Readable {
  const rewriter = htmlRewriter((url) => rewriteUrl(url, place));
  switch (response.headers['content-encoding']) {
    case 'gzip':
      return pipeline(response, createGunzip(), rewriter, createGzip(), () => {});
    case 'deflate':
      return pipeline(response, createInflate(), rewriter, createDeflate(), () => {});
    case undefined:
    case 'identity':
      return pipeline(response, rewriter, () => {});
    default:
      // Unsupported encodings are not rewritten.
      return response;
  }
}
