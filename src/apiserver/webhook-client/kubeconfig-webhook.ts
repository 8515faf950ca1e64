import { ChunkList, type Clock, type Dialer, type Logger, timeoutSignal } from '#base';
import { type ConnectionConfig, connectionFrom, httpsTransport, parseKubeconfig, type Transport } from '#client';

export interface KubeconfigFile {
  readonly path: string;
  readonly text: string;
}

export interface PostOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

export interface WebhookDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Connects to the service. Default: directly. */
  readonly dial?: Dialer | undefined;
}

interface Service {
  readonly transport: Transport;
  readonly path: string;
}

/** As upstream, the timeout is sent in the URL. */
const TIMEOUT_QUERY = new URLSearchParams({ timeout: '30s' });

/** Far more than a review can be. */
const MAX_RESPONSE_BYTES = 1024 * 1024;

/** A service outside of the cluster that a kubeconfig file describes, as upstream's audit, token and authorization webhooks are. */
export class KubeconfigWebhook implements AsyncDisposable {
  readonly #file: KubeconfigFile;
  readonly #deps: WebhookDeps;
  #service: Promise<Service> | undefined;

  constructor(file: KubeconfigFile, deps: WebhookDeps) {
    this.#file = file;
    this.#deps = deps;
  }

  /** Throws when the file is no kubeconfig, or what it names cannot be read. */
  async check(): Promise<void> {
    await this.#connection();
  }

  /** The decoded response to a POST. Throws a StatusError for the service's errors, and other errors when it cannot be reached. */
  async post(body: unknown, { timeoutMs, signal }: PostOptions): Promise<unknown> {
    this.#service ??= this.#open();
    const { transport, path } = await this.#service.catch((error: unknown) => {
      this.#service = undefined;
      throw error;
    });
    using timeout = timeoutSignal(this.#deps.clock, timeoutMs, signal);
    const chunks = new ChunkList();
    const request = { method: 'POST', path, query: TIMEOUT_QUERY, body, accept: 'application/json', signal: timeout.signal } as const;
    for await (const chunk of transport.stream(request)) {
      chunks.push(chunk);
      if (chunks.bytes > MAX_RESPONSE_BYTES) throw new Error(`the answer is longer than ${MAX_RESPONSE_BYTES} bytes`);
    }
    return chunks.bytes === 0 ? undefined : JSON.parse(chunks.whole().toString('utf8'));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const service = await this.#service?.catch(() => undefined);
    await service?.transport[Symbol.asyncDispose]();
  }

  async #open(): Promise<Service> {
    const connection = await this.#connection();
    // The path of the server's address is where to post, which is at least the root.
    const path = new URL(connection.server).pathname === '/' ? '/' : '';
    return { transport: httpsTransport(connection, this.#deps, { userAgent: 'kube-apiserver' }), path };
  }

  async #connection(): Promise<ConnectionConfig> {
    const { connection } = await connectionFrom(parseKubeconfig(this.#file));
    return { ...connection, dial: this.#deps.dial };
  }
}
