import http from 'node:http';
import https from 'node:https';
import type { ConnectionOptions } from 'node:tls';
import { type Dialer, DialingAgent, dialedConnection, onAbort } from '#base';
import type { HttpConnection, HttpRequest, HttpResponse } from './http-connection.ts';

/** HTTP/1.1, for servers and proxies without HTTP/2. */
export class Http1Connection implements HttpConnection {
  readonly #agent: http.Agent;
  readonly #dial: Dialer | undefined;
  readonly #url: URL;

  constructor(origin: string, tls: ConnectionOptions, dial?: Dialer) {
    this.#url = new URL(origin);
    this.#dial = dial;
    const options = tls as https.AgentOptions;
    if (this.#url.protocol === 'http:') this.#agent = new http.Agent({ keepAlive: true });
    else this.#agent = dial === undefined ? new https.Agent({ ...options, keepAlive: true }) : new DialingAgent(dial, options);
  }

  send({ method, target, headers, body, signal }: HttpRequest): Promise<HttpResponse> {
    const { protocol, hostname, port } = this.#url;
    const request = protocol === 'https:' ? https.request : http.request;
    const length = body === undefined ? {} : { 'content-length': String(body.length) };
    return new Promise((resolve, reject) => {
      const host = hostname.replace(/^\[|\]$/g, '');
      const dial = protocol === 'http:' ? this.#dial : undefined;
      const outgoing = request({
        ...(dial ? { createConnection: () => dialedConnection(dial, { host, port: Number(port || 80) }) } : { agent: this.#agent }),
        method,
        hostname: host,
        port,
        path: target,
        headers: { ...headers, ...length },
      });
      const aborted = onAbort(signal, (reason) => outgoing.destroy(reason as Error));
      outgoing.once('close', () => {
        aborted[Symbol.dispose]();
        // After an unrequested protocol switch Node closes the connection without an error.
        reject(new Error('the connection was closed before the answer came'));
      });
      outgoing.on('error', (error) => reject(signal?.aborted ? signal.reason : error));
      outgoing.once('response', (incoming) =>
        resolve({ status: incoming.statusCode ?? 0, header: (name) => incoming.headers[name]?.toString(), body: incoming }),
      );
      outgoing.end(body);
    });
  }

  async close(): Promise<void> {
    this.#agent.destroy();
  }
}
