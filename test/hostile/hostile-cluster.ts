import { once } from 'node:events';
import http2, { type ClientHttp2Session, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http2';
import type { UserInfo } from '#apiserver';
import { createLogger, MetricsRegistry, realClock, seededRandom } from '#base';
import { type ApiServerSettings, type Cluster, type ClusterConfig, renewedCertificates, startCluster, waitForReady } from '#cluster';
import { openMemoryStore, type Store } from '#store';

/** Bearer tokens that the cluster accepts. */
export const ADMIN_TOKEN = 'admin-token';
export const USER_TOKEN = 'user-token';
const TOKENS: ReadonlyMap<string, UserInfo> = new Map([
  [ADMIN_TOKEN, { name: 'admin', groups: ['system:masters', 'system:authenticated'] }],
  [USER_TOKEN, { name: 'user', groups: ['system:authenticated'] }],
]);

export interface HostileOptions extends Pick<ClusterConfig, 'nodes' | 'controllerManager'> {
  readonly apiServer?: ApiServerSettings;
  readonly store?: Store;
}

export interface Reply {
  readonly code: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Send {
  readonly method?: string;
  readonly token?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Buffer;
}

/** A cluster that listens, and a client that can send anything over HTTP/2. */
export interface HostileCluster extends AsyncDisposable {
  readonly cluster: Cluster;
  readonly port: number;
  readonly metrics: MetricsRegistry;
  /** The cluster's log at level warn and above, as JSON lines. */
  readonly logged: readonly string[];
  send(path: string, options?: Send): Promise<Reply>;
}

export async function startHostileCluster(options: HostileOptions = {}): Promise<HostileCluster> {
  const clock = realClock;
  const random = seededRandom(1);
  const store = options.store ?? openMemoryStore({ clock });
  const pki = renewedCertificates({}, { names: { ipAddresses: ['127.0.0.1'] }, now: clock.now(), random });
  const metrics = new MetricsRegistry();
  const logged: string[] = [];
  const logger = createLogger({ clock, level: 'warn', format: 'json', write: (line) => void logged.push(line) });
  const cluster = startCluster(
    { ...options, apiServer: { staticTokens: TOKENS, ...options.apiServer } },
    { store, clock, random, logger, metrics },
  );
  await waitForReady(cluster, options, { clock });
  const tls = { cert: pki.serving.certificate, key: pki.serving.key, ca: pki.authority.certificate };
  const port = await cluster.apiServer.listen({ host: '127.0.0.1', port: 0, tls });
  let session: ClientHttp2Session | undefined;
  const connected = () => {
    if (session === undefined || session.destroyed || session.closed) {
      session = http2.connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
      session.on('error', () => {});
    }
    return session;
  };
  return {
    cluster,
    port,
    metrics,
    logged,
    send: (path, send = {}) => exchange(connected(), path, send),
    async [Symbol.asyncDispose]() {
      session?.destroy();
      await cluster[Symbol.asyncDispose]();
      await store.close();
    },
  };
}

async function exchange(session: ClientHttp2Session, path: string, { method = 'GET', token, headers = {}, body }: Send): Promise<Reply> {
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const contentType = body === undefined ? {} : { 'content-type': 'application/json' };
  const stream = session.request(
    { ':path': path, ':method': method, ...authorization, ...contentType, ...headers },
    { endStream: body === undefined },
  );
  if (body !== undefined) stream.end(body);
  const [answered] = (await once(stream, 'response')) as [IncomingHttpHeaders & { ':status'?: number }];
  let text = '';
  for await (const chunk of stream.setEncoding('utf8')) text += chunk;
  return { code: answered[':status'] ?? 0, headers: answered, body: text };
}
