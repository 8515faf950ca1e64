import http from 'node:http';
import net from 'node:net';
import type { Logger } from '../logging/logger.ts';
import { listenOn } from '../net/listen-on.ts';

export interface HttpResponse {
  readonly code: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Responds to GET by path; undefined is 404. */
export type HttpRoutes = (path: string) => HttpResponse | undefined;

const MAX_CONNECTIONS = 256;
const TIMEOUT_MS = 10_000;

/** A small server for health and metrics: only the request's path matters. */
export class HttpEndpoint implements AsyncDisposable {
  readonly #server: http.Server;

  constructor(
    private readonly routes: HttpRoutes,
    private readonly logger: Logger,
  ) {
    this.#server = http.createServer({ requestTimeout: TIMEOUT_MS, headersTimeout: TIMEOUT_MS }, (request, response) => {
      request.resume();
      const isRead = request.method === 'GET' || request.method === 'HEAD';
      const answer = isRead ? this.#answer((request.url ?? '/').split('?')[0]!) : { code: 405, body: 'method not allowed\n' };
      response.writeHead(answer.code, { 'content-type': 'text/plain; charset=utf-8', ...answer.headers }).end(answer.body);
    });
    this.#server.maxConnections = MAX_CONNECTIONS;
  }

  #answer(path: string): HttpResponse {
    try {
      return this.routes(path) ?? { code: 404, body: '404 page not found\n' };
    } catch (error) {
      this.logger.error('a request failed', { path, error });
      return { code: 500, body: 'internal server error\n' };
    }
  }

  get port(): number | undefined {
    const address = this.#server.address();
    return address !== null && typeof address === 'object' ? address.port : undefined;
  }

  /** As `host:port`, the form of flags. */
  async listen(bindAddress: string): Promise<void> {
    const { host, port } = parseBindAddress(bindAddress);
    await listenOn(this.#server, { port, ...(host !== '' && { host }) }, this.logger).catch((cause: Error) => {
      throw new Error(`cannot listen on ${bindAddress}: ${cause.message}`, { cause });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#server.listening) return;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }
}

/** Throws an Error with the reason. */
export function parseBindAddress(text: string): { readonly host: string; readonly port: number } {
  const colon = text.lastIndexOf(':');
  const host = text.slice(0, colon).replace(/^\[|\]$/g, '');
  const port = Number(text.slice(colon + 1));
  const isAddress = host === '' || net.isIP(host) !== 0 || host === 'localhost';
  if (colon < 0 || !isAddress || !Number.isInteger(port) || port < 0 || port > 65_535)
    throw new Error(`"${text}" is no address and port to listen on, such as 0.0.0.0:10256`);
  return { host, port };
}
