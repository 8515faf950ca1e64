import { type IncomingMessage, type RequestOptions, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Duplex } from 'node:stream';
import { onAbort } from '../async/abort.ts';
import { type Dialer, targetText } from './dialer.ts';

/** A proxy that supports HTTP CONNECT. */
export interface ConnectProxy {
  /** `http://host:port`, `https://host:port` or `unix:///path`. */
  readonly url: string;
  /** For https. PEM. */
  readonly tls?: { readonly ca?: string; readonly cert: string; readonly key: string; readonly serverName?: string };
}

const TIMEOUT_MS = 30_000;

/** Connects through such a proxy. */
export function httpConnectDialer(proxy: ConnectProxy): Dialer {
  return (target) => {
    const address = targetText(target);
    const place = proxyText(proxy);
    return new Promise((resolve, reject) => {
      const sent = open(proxy, { method: 'CONNECT', path: address, headers: { host: '127.0.0.1' }, agent: false });
      sent.once('connect', (response: IncomingMessage, socket: Duplex, head: Buffer) => {
        const fail = (message: string) => {
          socket.destroy();
          reject(new Error(message));
        };
        if (response.statusCode !== 200) {
          const { statusCode = 0, statusMessage = '' } = response;
          return fail(`proxy error from ${place} while dialing ${address}, code ${statusCode}: ${statusCode} ${statusMessage}`);
        }
        if (head.length > 0) socket.unshift(head);
        resolve(socket);
      });
      // For the whole response: a slow one would never be idle. Unlike a request's own timeout it does not keep the process alive.
      const deadline = onAbort(AbortSignal.timeout(TIMEOUT_MS), () => sent.destroy(new Error('the proxy took too long to answer')));
      sent.once('connect', () => deadline[Symbol.dispose]());
      const failed = (message: string, cause?: Error) =>
        reject(new Error(`dialing ${address} by proxy ${place} failed: ${message}`, { cause }));
      sent.on('error', (error) => failed(error.message, error));
      sent.once('close', () => {
        deadline[Symbol.dispose]();
        failed('the proxy answered with something else than a connection');
      });
      sent.end();
    });
  };
}

/** Errors are handled by the caller. */
function open({ url, tls }: ConnectProxy, options: RequestOptions) {
  const { protocol, hostname, port, pathname } = new URL(url);
  // errors: the caller listens, here and below
  if (protocol === 'unix:') return requestHttp({ ...options, socketPath: pathname });
  const place = { host: hostname.replace(/^\[|\]$/g, ''), port: port || (protocol === 'https:' ? 443 : 80) };
  // errors: as above
  if (protocol === 'http:') return requestHttp({ ...options, ...place });
  const { serverName, ...keys } = tls ?? {};
  // errors: as above
  return requestHttps({ ...options, ...place, ...keys, ...(serverName && { servername: serverName }) });
}

function proxyText({ url }: ConnectProxy): string {
  const { protocol, host, pathname } = new URL(url);
  return protocol === 'unix:' ? pathname : host;
}
