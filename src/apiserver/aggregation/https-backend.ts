import type { IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import type { Duplex } from 'node:stream';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { ChunkList, type Clock, childSignal, formatTraceparent, type TimerHandle, timeoutSignal } from '#base';
import { transportErrorText } from '../admission/webhooks/transport-error.ts';
import { isLongRunning } from '../filters/long-running.ts';
import type { ApiResponse } from '../handlers/api-response.ts';
import type { ApiRequest } from '../request/api-request.ts';
import { ANONYMOUS } from '../request/user.ts';
import type { ServiceEndpoint, ServiceEndpoints } from '../service-endpoints/service-endpoints.ts';
import { type ProxyAnswer, passedHeaders, send, upgradeAnswer } from '../streaming/reverse-proxy.ts';
import { type Backend, type BackendRequest, type JsonResponse, textResponse } from './backend.ts';
import { frontProxyHeaders } from './front-proxy-headers.ts';
import type { RemoteApi } from './remote-api.ts';

/** The proxy client certificate, by which backends trust the user headers. PEM. */
export interface ProxyClientCertificate {
  readonly certificate: string;
  readonly key: string;
}

export interface HttpsBackendDeps {
  readonly endpoints: ServiceEndpoints;
  /** Real time. */
  readonly clock: Clock;
  /** The timeout of requests that are not long-running. */
  readonly requestTimeoutMs: number;
  readonly certificate: ProxyClientCertificate | undefined;
}

const MAX_IDLE_CONNECTIONS = 16;
const REDIRECT_REJECTED = 'the backend attempted to redirect this request, which is not permitted';

/** A backend over TLS, addressed by a Service. */
export class HttpsBackend implements Backend {
  readonly #api: RemoteApi;
  readonly #deps: HttpsBackendDeps;
  readonly #tls: ConnectionOptions;
  readonly #agent: Agent;

  constructor(api: RemoteApi, deps: HttpsBackendDeps) {
    this.#api = api;
    this.#deps = deps;
    this.#tls = tlsOptions(api, deps.certificate);
    this.#agent = new Agent({ ...this.#tls, keepAlive: true, maxFreeSockets: MAX_IDLE_CONNECTIONS });
  }

  async forward(request: ApiRequest): Promise<ApiResponse> {
    let endpoint: ServiceEndpoint;
    try {
      endpoint = await this.#deps.endpoints.resolve(this.#api.service);
    } catch {
      return textResponse(503, 'service unavailable');
    }
    const ending = childSignal(request.signal);
    const timer = this.#timer(request, () => ending.abort(new Error('the backend took too long to answer')));
    try {
      return passedResponse(await this.#send(request, endpoint, ending.signal), request);
    } catch (error) {
      return textResponse(503, transportErrorText(error as NodeJS.ErrnoException, endpoint));
    } finally {
      timer?.cancel();
    }
  }

  /** Cancels the request to the backend once the client's deadline is over. */
  #timer(request: ApiRequest, expire: () => void): TimerHandle | undefined {
    if (isLongRunning(request.info) || request.header('upgrade') !== undefined) return undefined;
    return this.#deps.clock.setTimer(this.#deps.requestTimeoutMs, expire);
  }

  #send(request: ApiRequest, endpoint: ServiceEndpoint, signal: AbortSignal): Promise<ProxyAnswer> {
    const host = hostText(endpoint);
    const user = request.user ?? ANONYMOUS;
    return send(request, {
      ...endpoint,
      scheme: 'https',
      path: request.url ?? pathOf(request),
      pathPrefix: '',
      tls: this.#tls,
      agent: this.#agent,
      headers: { ...frontProxyHeaders(user), host, ...(request.isLocal && localHeaders(request)), ...traceHeaders(request) },
      signal,
    });
  }

  async address(path: string): Promise<string> {
    return `https://${hostText(await this.#deps.endpoints.resolve(this.#api.service))}${path}`;
  }

  async getJson(request: BackendRequest): Promise<JsonResponse> {
    const endpoint = await this.#deps.endpoints.resolve(this.#api.service);
    using limit = timeoutSignal(this.#deps.clock, request.timeoutMs);
    try {
      const response = await this.#get(request, endpoint, limit.signal);
      return await jsonResponse(response, request.maxBytes);
    } catch (error) {
      const url = `https://${hostText(endpoint)}${request.path}`;
      const detail = limit.signal.aborted ? 'context deadline exceeded' : transportErrorText(error as NodeJS.ErrnoException, endpoint);
      throw new Error(`Get ${JSON.stringify(url)}: ${detail}`, { cause: error });
    }
  }

  async #get({ path, user, accept, etag }: BackendRequest, endpoint: ServiceEndpoint, signal: AbortSignal): Promise<IncomingMessage> {
    const connection = await endpoint.connect?.();
    const headers = { ...frontProxyHeaders(user), accept, host: hostText(endpoint), ...(etag && { 'if-none-match': etag }) };
    const common = { ...this.#tls, host: endpoint.host, port: endpoint.port, path, signal, headers: headers as Record<string, string> };
    const own = connection === undefined ? { agent: this.#agent } : { createConnection: () => this.#secured(connection) as never };
    return new Promise((resolve, reject) => {
      httpsRequest({ ...common, ...own }, resolve)
        .on('error', reject)
        .end();
    });
  }

  #secured(connection: Duplex): Duplex {
    // errors: the request that uses it listens
    return connectTls({ ...this.#tls, socket: connection });
  }

  close(): void {
    this.#agent.destroy();
  }
}

function tlsOptions({ service, registration }: RemoteApi, certificate: ProxyClientCertificate | undefined): ConnectionOptions {
  const { caBundle, insecureSkipTLSVerify = false } = registration.spec ?? {};
  return {
    servername: `${service.name}.${service.namespace}.svc`,
    rejectUnauthorized: !insecureSkipTLSVerify,
    ...(caBundle && { ca: Buffer.from(caBundle as unknown as string, 'base64') }),
    ...(certificate && { cert: certificate.certificate, key: certificate.key }),
  };
}

function hostText({ host, port }: ServiceEndpoint): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** In-process requests have no URL. */
function pathOf({ path, query }: ApiRequest): string {
  const escaped = path.split('/').map(encodeURIComponent).join('/');
  return query.size === 0 ? escaped : `${escaped}?${query}`;
}

/** The backend's spans are within this server's. */
function traceHeaders({ span }: ApiRequest): Readonly<Record<string, string>> {
  return span === undefined ? {} : { traceparent: formatTraceparent(span.context) };
}

function localHeaders(request: ApiRequest): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const name of ['accept', 'content-type', 'user-agent']) headers[name] = request.header(name) ?? '';
  return headers;
}

function passedResponse(answer: ProxyAnswer, request: ApiRequest): ApiResponse {
  if ('socket' in answer) return upgradeAnswer(answer);
  const { response } = answer;
  const { statusCode: code = 502 } = response;
  if (code >= 300 && code <= 399 && response.headers.location) {
    response.destroy();
    return { type: 'raw', code: 502, contentType: 'text/plain; charset=utf-8', body: REDIRECT_REJECTED };
  }
  return { type: 'stream', code, contentType: '', body: wholeOrAbandoned(response, request), headers: passedHeaders(response) };
}

/** A disconnected client ends the response without an error; an incomplete response of the backend is one. */
async function* wholeOrAbandoned(response: IncomingMessage, { signal }: ApiRequest): AsyncIterable<Uint8Array> {
  try {
    yield* response;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

async function jsonResponse(response: IncomingMessage, maxBytes: number): Promise<JsonResponse> {
  const { statusCode: code = 0, headers } = response;
  const common = { code, contentType: headers['content-type'] ?? '', etag: headers.etag ?? '' };
  if (code !== 200) {
    response.destroy();
    return { ...common, body: undefined };
  }
  const chunks = new ChunkList();
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    if (chunks.bytes > maxBytes) throw new Error(`the answer is longer than ${maxBytes} bytes`);
  }
  return { ...common, body: JSON.parse(chunks.whole().toString('utf8')) };
}
