import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { authorization } from '#api';
import { type Clock, type Component, type Logger, Lru, runComponent, whenAborted } from '#base';
import type { Client } from '#client';
import type { KubeletAnswer, KubeletCall } from './kubelet-handler.ts';

export interface KubeletServerConfig {
  readonly nodeName: string;
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
  readonly tls: { readonly cert: string | Buffer; readonly key: string | Buffer; readonly clientCa: string | Buffer };
}

export interface KubeletServerDeps {
  /** Asks the API server who may do what, as upstream's kubelet does. */
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly handle: (call: KubeletCall) => Promise<KubeletAnswer>;
}

export interface KubeletServer extends Component {
  /** Known once it is ready. */
  readonly port: number;
}

interface Caller {
  readonly name: string;
  readonly groups: readonly string[];
}

const VERDICT_MS = 300_000;
const DENIAL_MS = 30_000;
const MAX_VERDICTS = 1000;

/** The kubelet's API over https, for API servers in other processes. Callers show a certificate; what they may do, the API server decides. */
export function startKubeletServer(config: KubeletServerConfig, deps: KubeletServerDeps, signal?: AbortSignal): KubeletServer {
  const gate = new CallerGate(config.nodeName, deps);
  const { cert, key, clientCa } = config.tls;
  const server = createServer({ cert, key, ca: clientCa, requestCert: true, rejectUnauthorized: false, minVersion: 'TLSv1.2' });
  server.on('request', (request, response) => void serve(request, response, { gate, ...deps }));
  const component = runComponent(signal, async ({ signal: stopping, ready }) => {
    server.listen(config.port, config.host);
    await once(server, 'listening', { signal: stopping });
    ready();
    await whenAborted(stopping);
    await close(server);
  });
  return {
    ...{ ready: component.ready, done: component.done },
    get port() {
      return (server.address() as AddressInfo | null)?.port ?? config.port;
    },
    [Symbol.asyncDispose]: () => component[Symbol.asyncDispose](),
  };
}

async function close(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}

interface Serving extends KubeletServerDeps {
  readonly gate: CallerGate;
}

async function serve(request: IncomingMessage, response: ServerResponse, { gate, handle, logger }: Serving): Promise<void> {
  const left = new AbortController();
  response.on('close', () => left.abort());
  try {
    const url = new URL(request.url ?? '/', 'https://kubelet');
    const method = request.method ?? 'GET';
    const refusal = await gate.refusal(callerOf(request.socket as TLSSocket), method, url.pathname);
    if (refusal !== undefined) return void response.writeHead(refusal.code, { 'content-type': 'text/plain' }).end(refusal.message);
    const answer = await handle({ method, path: url.pathname, query: url.searchParams, signal: left.signal });
    response.writeHead(answer.code, answer.headers);
    for await (const chunk of answer.body) if (!response.write(chunk)) await once(response, 'drain', { signal: left.signal });
    response.end();
  } catch (error) {
    if (left.signal.aborted) return;
    logger.warn('a request to the kubelet failed', { url: request.url, error });
    if (response.headersSent) response.destroy();
    else response.writeHead(500).end('internal error');
  }
}

function callerOf(socket: TLSSocket): Caller | undefined {
  if (!socket.authorized) return undefined;
  const { subject } = socket.getPeerCertificate();
  const [name] = textsOf(subject?.CN);
  return name ? { name, groups: textsOf(subject?.O) } : undefined;
}

/** A part of a name that occurs more than once is a list. */
function textsOf(part: string | readonly string[] | undefined): readonly string[] {
  return part === undefined ? [] : [part].flat();
}

/** Which callers may do what. Verdicts are kept for a while. */
class CallerGate {
  readonly #verdicts = new Lru<string, { readonly allowed: boolean; readonly untilMs: number }>({ capacity: MAX_VERDICTS });

  constructor(
    private readonly nodeName: string,
    private readonly deps: KubeletServerDeps,
  ) {}

  async refusal(caller: Caller | undefined, method: string, path: string): Promise<{ code: number; message: string } | undefined> {
    if (caller === undefined) return { code: 401, message: 'Unauthorized' };
    const verb = VERBS[method] ?? 'create';
    const subresource = subresourceOf(path);
    if (await this.#isAllowed(caller, verb, subresource)) return undefined;
    const message = `Forbidden (user=${caller.name}, verb=${verb}, resource=nodes, subresource(s)=[${subresource}])`;
    return { code: 403, message };
  }

  async #isAllowed(caller: Caller, verb: string, subresource: string): Promise<boolean> {
    const { clock } = this.deps;
    const key = `${verb} ${subresource} ${caller.name} ${caller.groups.join(',')}`;
    const known = this.#verdicts.get(key);
    if (known !== undefined && known.untilMs > clock.now()) return known.allowed;
    const allowed = await this.#ask(caller, verb, subresource);
    this.#verdicts.set(key, { allowed, untilMs: clock.now() + (allowed ? VERDICT_MS : DENIAL_MS) });
    return allowed;
  }

  async #ask({ name, groups }: Caller, verb: string, subresource: string): Promise<boolean> {
    const resourceAttributes = { verb, version: 'v1', resource: 'nodes', subresource, name: this.nodeName };
    const spec = { user: name, groups: [...groups, 'system:authenticated'], resourceAttributes };
    const review = await this.deps.client.resource(REVIEWS).create({ spec });
    return (review.status as authorization.SubjectAccessReviewStatus | undefined)?.allowed === true;
  }
}

const REVIEWS = { group: 'authorization.k8s.io', version: 'v1', resource: 'subjectaccessreviews', namespaced: false };

const VERBS: Readonly<Record<string, string>> = {
  GET: 'get',
  HEAD: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** What of a node a path is about, as upstream divides it for authorization. */
function subresourceOf(path: string): string {
  const [, first = ''] = path.split('/');
  if (first === 'metrics') return 'metrics';
  if (first === 'stats') return 'stats';
  if (first === 'logs') return 'log';
  if (first === 'healthz') return 'healthz';
  return first === 'pods' || first === 'runningpods' ? 'pods' : 'proxy';
}
