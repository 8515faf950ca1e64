import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { SecureContextOptions } from 'node:tls';
import { LIMITS } from './limits.ts';

export interface DialOptions {
  readonly method?: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly tls?: SecureContextOptions & { readonly rejectUnauthorized?: boolean; readonly servername?: string };
  readonly signal?: AbortSignal | undefined;
  /** Connects to a unix socket instead of the URL's host. */
  readonly socketPath?: string | undefined;
}

export interface DialedConnection {
  readonly headers: IncomingHttpHeaders;
  readonly connection: Duplex;
}

/** The server responded without an upgrade. */
export class NotUpgradedError extends Error {
  override readonly name = 'NotUpgradedError';

  constructor(
    readonly code: number,
    readonly body: string,
  ) {
    super(`the server answered ${code}: ${body.trim() || 'nothing more'}`);
  }
}

const KEEP_ALIVE_MS = 15_000;

/** Opens a connection and upgrades it. Rejects with a NotUpgradedError when the server does not. */
export function dialUpgrade(url: URL, { method = 'POST', headers, tls, signal, socketPath }: DialOptions): Promise<DialedConnection> {
  return new Promise((resolve, reject) => {
    const options: RequestOptions = { method, headers, agent: false, ...(signal && { signal }), ...(socketPath && { socketPath }) };
    const request = url.protocol === 'https:' ? httpsRequest(url, { ...options, ...tls }) : httpRequest(url, options);
    request.once('upgrade', (response: IncomingMessage, socket: Socket, head: Buffer) => {
      // Node takes its own listener away; the user of the connection sees that it was closed.
      socket.on('error', () => socket.destroy());
      if (head.length > 0) socket.unshift(head);
      socket.setNoDelay(true);
      socket.setKeepAlive(true, KEEP_ALIVE_MS);
      resolve({ headers: response.headers, connection: socket });
    });
    request.once('response', (response) => {
      readText(response).then((body) => reject(new NotUpgradedError(response.statusCode ?? 0, body)), reject);
    });
    request.on('error', reject);
    request.end();
  });
}

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response) {
    chunks.push(chunk as Buffer);
    length += (chunk as Buffer).length;
    if (length > LIMITS.statusBytes) break;
  }
  return Buffer.concat(chunks).toString();
}
