import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Component, type Logger, listenOn, runComponent, waitForAbort } from '#base';
import { type KubeletCall, type KubeletResponse, requestTarget } from './kubelet-call.ts';
import { writeResponse } from './write-response.ts';

export interface PlainServerConfig {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** The first path segments that are served; others are 404. */
  readonly paths: readonly string[];
}

export interface PlainServerDeps {
  readonly logger: Logger;
  readonly handle: (call: KubeletCall) => Promise<KubeletResponse>;
}

export interface PlainServer extends Component {
  /** Valid once it is ready. */
  readonly port: number;
}

/** Unauthenticated HTTP: healthz, and with `readOnlyPort` pods and metrics. */
export function startPlainServer(config: PlainServerConfig, { logger, handle }: PlainServerDeps, signal?: AbortSignal): PlainServer {
  const paths = new Set(config.paths);
  const server = createServer(async (request, response) => {
    const left = new AbortController();
    response.on('close', () => left.abort());
    try {
      const url = requestTarget(request.url);
      if (url === undefined) return void response.writeHead(400).end('Bad Request\n');
      const isServed = (request.method === 'GET' || request.method === 'HEAD') && paths.has(url.pathname.split('/')[1] ?? '');
      if (!isServed) return void response.writeHead(404).end('404 page not found\n');
      const answer = await handle({ method: 'GET', path: url.pathname, query: url.searchParams, signal: left.signal });
      if ('serve' in answer) return void response.writeHead(404).end();
      await writeResponse(response, answer, left.signal);
    } catch (error) {
      if (!left.signal.aborted) logger.warn('a request to the kubelet failed', { url: request.url, error });
      response.destroy();
    }
  });
  const component = runComponent(signal, async ({ signal: stopping, ready }) => {
    await listenOn(server, { host: config.host, port: config.port }, logger);
    ready();
    await waitForAbort(stopping);
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  });
  return {
    ...{ ready: component.ready, done: component.done },
    get port() {
      return (server.address() as AddressInfo | null)?.port ?? config.port;
    },
    [Symbol.asyncDispose]: () => component[Symbol.asyncDispose](),
  };
}
