import { type IncomingMessage, type RequestOptions, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Duplex } from 'node:stream';
import { type Dialer, targetText } from './dialer.ts';

/** A proxy that opens connections by HTTP's method CONNECT. */
export interface ConnectProxy {
  /** `http://host:port`, `https://host:port` or `unix:///path`. */
  readonly url: string;
  /** Of https. PEM. */
  readonly tls?: { readonly ca?: string; readonly cert: string; readonly key: string; readonly serverName?: string };
}

const TIMEOUT_MS = 30_000;

/** Connects by way of such a proxy. */
export function httpConnectDialer(proxy: ConnectProxy): Dialer {
  return (target) => {
    const address = targetText(target);
    const place = proxyText(proxy);
    return new Promise((resolve, reject) => {
      const sent = open(proxy, { method: 'CONNECT', path: address, headers: { host: '127.0.0.1' }, agent: false, timeout: TIMEOUT_MS });
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
      sent.once('timeout', () => sent.destroy(new Error('the proxy took too long to answer')));
      sent.on('error', (error) => reject(new Error(`dialing ${address} by proxy ${place} failed: ${error.message}`, { cause: error })));
      sent.end();
    });
  };
}

/** Whoever opens it listens to its errors. */
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
