import type { IncomingMessage, RequestOptions } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import type { admissionregistration } from '#api';
import { ChunkList, type Dialer, type DialTarget, dialedConnection, formatTraceparent, realClock, SPAN_KIND, type Tracer } from '#base';
import {
  encodeJson,
  goQuote,
  isJsonObject,
  type JsonObject,
  JsonSyntaxError,
  type JsonValue,
  NO_RESOURCE,
  parseJson,
  serverResponseError,
} from '#machinery';
import type { ServiceEndpoint, ServiceEndpoints } from '../../service-endpoints/service-endpoints.ts';
import { transportErrorText } from './transport-error.ts';

export type WebhookClientConfig = admissionregistration.WebhookClientConfig;

export interface WebhookCall {
  readonly config: WebhookClientConfig;
  readonly body: JsonValue;
  readonly timeoutSeconds: number;
  readonly signal?: AbortSignal | undefined;
}

interface TracedCall extends WebhookCall {
  readonly traceparent?: string;
}

interface WebhookResponse {
  readonly code: number;
  readonly retryAfter: string;
  readonly body: Buffer;
}

export interface WebhookClientOptions {
  readonly dialUrl?: Dialer | undefined;
  readonly tracer?: Tracer | undefined;
}

/** Calls webhooks at a URL or at a service of the cluster, over kept-alive connections. */
export class WebhookClient {
  readonly #agent = new Agent({ keepAlive: true });
  readonly #services: ServiceEndpoints;
  readonly #dialUrl: Dialer | undefined;
  readonly #tracer: Tracer | undefined;

  /** `dialUrl`: connects to webhooks that are given by URL. Default: directly. */
  constructor(services: ServiceEndpoints, { dialUrl, tracer }: WebhookClientOptions = {}) {
    this.#services = services;
    this.#dialUrl = dialUrl;
    this.#tracer = tracer;
  }

  /** The response object. Throws an Error with upstream's message. */
  async call(call: WebhookCall): Promise<JsonObject> {
    const url = webhookUrl(call.config);
    url.searchParams.set('timeout', `${call.timeoutSeconds}s`);
    const { code, retryAfter, body } = await this.#send(url, call);
    if (code < 200 || code > 206) throw failureOf(code, retryAfter, body);
    return answerObject(body);
  }

  /** The webhook's own spans are within that of the call, by the header that says so. */
  #send(url: URL, call: WebhookCall): Promise<WebhookResponse> {
    if (this.#tracer === undefined) return this.#post(url, call);
    const attributes = () => ({ 'http.request.method': 'POST', 'url.full': urlText(url), 'server.address': url.hostname });
    return this.#tracer.child('HTTP POST', { kind: SPAN_KIND.client, attributes }, async (span) => {
      const answer = await this.#post(url, { ...call, ...(span && { traceparent: formatTraceparent(span.context) }) });
      span?.set({ 'http.response.status_code': answer.code });
      return answer;
    });
  }

  async #post(url: URL, call: TracedCall): Promise<WebhookResponse> {
    try {
      const address = await this.#address(url, call.config);
      return await this.#exchange(url, address, call);
    } catch (error) {
      throw new Error(`Post ${goQuote(urlText(url))}: ${(error as Error).message}`, { cause: error });
    }
  }

  #address(url: URL, { service }: WebhookClientConfig): Promise<ServiceEndpoint> | ServiceEndpoint {
    if (service === undefined) {
      const address = { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || 443) };
      const dial = this.#dialUrl;
      return { ...address, ...(dial && { connect: () => dial(address) }) };
    }
    return this.#services.resolve({ namespace: service.namespace ?? '', name: service.name ?? '', port: service.port ?? 443 });
  }

  async #exchange(url: URL, address: ServiceEndpoint, call: TracedCall): Promise<WebhookResponse> {
    const timer = new AbortController();
    const ended = new AbortController();
    const stop = () => timer.abort(call.signal?.reason);
    call.signal?.addEventListener('abort', stop, { once: true });
    // Webhooks are outside of the cluster's (possibly virtual) time.
    void realClock.sleep(call.timeoutSeconds * 1000, ended.signal).then(
      () => timer.abort(),
      () => {},
    );
    try {
      return await this.#request(url, address, { call, signal: timer.signal });
    } catch (error) {
      if (call.signal?.aborted) throw new Error('context canceled', { cause: error });
      if (timer.signal.aborted) throw new Error('context deadline exceeded', { cause: error });
      throw new Error(transportErrorText(error as NodeJS.ErrnoException, address), { cause: error });
    } finally {
      ended.abort();
      call.signal?.removeEventListener('abort', stop);
    }
  }

  #request(
    url: URL,
    { host, port, connect }: ServiceEndpoint,
    { call, signal }: { call: TracedCall; signal: AbortSignal },
  ): Promise<WebhookResponse> {
    const body = Buffer.from(encodeJson(call.body));
    const { caBundle } = call.config;
    const headers = {
      ...{ host: url.host, accept: 'application/json', 'content-type': 'application/json', 'content-length': body.length },
      ...(call.traceparent !== undefined && { traceparent: call.traceparent }),
    };
    const name = url.hostname.replace(/^\[|\]$/g, '');
    return new Promise((resolve, reject) => {
      const sent = httpsRequest(
        {
          host,
          port,
          method: 'POST',
          path: url.pathname + url.search,
          headers,
          ...(connect === undefined ? { agent: this.#agent } : { createConnection: securedBy(connect, { host, port }) }),
          signal,
          ...(isIP(name) === 0 && { servername: name }),
          ...(caBundle && { ca: Buffer.from(caBundle, 'base64') }),
        },
        (response) => readAnswer(response).then(resolve, reject),
      );
      sent.on('error', reject);
      // Otherwise Node closes the connection without an error.
      sent.on('upgrade', (_response, socket) => {
        socket.destroy();
        reject(new Error('unexpected switch of protocols'));
      });
      sent.end(body);
    });
  }
}

/** Such connections are not kept: they cost little more than the proxy's own. */
function securedBy(connect: () => Promise<Duplex>, address: DialTarget): RequestOptions['createConnection'] {
  // errors: the request listens
  return (options) => connectTls({ ...(options as ConnectionOptions), socket: dialedConnection(connect, address) });
}

/** The limit of a response, far above any object. Leaving the loop closes the connection. */
const MAX_RESPONSE_BYTES = 16 * 1024 * 1024;

/** The length of error bodies in messages, as upstream. */
const MAX_FAILURE_TEXT = 2048;

async function readAnswer(response: IncomingMessage): Promise<WebhookResponse> {
  const chunks = new ChunkList();
  for await (const chunk of response) {
    chunks.push(chunk as Buffer);
    if (chunks.bytes > MAX_RESPONSE_BYTES) throw new Error(`the answer is longer than ${MAX_RESPONSE_BYTES} bytes`);
  }
  return { code: response.statusCode ?? 0, retryAfter: response.headers['retry-after'] ?? '', body: chunks.whole() };
}

function webhookUrl({ url, service }: WebhookClientConfig): URL {
  if (service === undefined) {
    if (!url) throw new Error('webhook configuration must have either service or URL');
    return cleaned(new URL(url));
  }
  const { namespace = '', name = '', path = '', port = 443 } = service;
  return cleaned(new ServiceUrl(`https://${name}.${namespace}.svc:${port}${path}`, port));
}

/** URL omits default ports; upstream's text for services includes them. */
class ServiceUrl extends URL {
  readonly servicePort: number;

  constructor(text: string, port: number) {
    super(text);
    this.servicePort = port;
  }
}

function cleaned<T extends URL>(url: T): T {
  url.pathname = url.pathname.replace(/\/{2,}/g, '/').replace(/(.)\/$/, '$1');
  return url;
}

function urlText(url: URL): string {
  const host = url instanceof ServiceUrl ? `${url.hostname}:${url.servicePort}` : url.host;
  return `${url.protocol}//${host}${url.pathname}${url.search}`;
}

/** A Status in the response is used as it is; otherwise the message is derived from the code. */
function failureOf(code: number, retryAfter: string, body: Buffer): Error {
  const text = body.toString();
  const status = statusIn(text);
  if (status !== undefined) return new Error(status);
  const seconds = /^\d+$/.test(retryAfter) ? Number(retryAfter) : 0;
  const response = { code, verb: 'POST', resource: NO_RESOURCE, name: '', serverMessage: text.slice(0, MAX_FAILURE_TEXT).trim() };
  return serverResponseError({ ...response, retryAfterSeconds: seconds, unexpected: true });
}

function statusIn(text: string): string | undefined {
  try {
    const { value } = parseJson(text);
    const isStatus = isJsonObject(value) && value.kind === 'Status' && value.apiVersion === 'v1';
    return isStatus && value.status !== 'Success' && typeof value.message === 'string' ? value.message : undefined;
  } catch {
    return undefined;
  }
}

function answerObject(body: Buffer): JsonObject {
  try {
    const { value } = parseJson(body);
    if (isJsonObject(value)) return value;
    throw new Error("couldn't get version/kind; json parse error: the answer is not an object");
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw new Error(`couldn't get version/kind; json parse error: ${error.message}`, { cause: error });
  }
}
