import { type Clock, type Logger, realClock, silentLogger, type TokenBucketConfig } from '#base';
import { Client, type ClientOptions } from './client.ts';
import type { ConnectionConfig } from './http/connection-config.ts';
import { httpsTransport } from './http/https-transport.ts';
import { type KubeconfigChoice, loadConnection } from './kubeconfig/load-connection.ts';

export interface CreateClientOptions extends ClientOptions {
  /** The server and credentials; default: from a kubeconfig. */
  readonly connection?: ConnectionConfig;
  readonly kubeconfig?: KubeconfigChoice;
  readonly userAgent?: string;
  readonly rateLimit?: TokenBucketConfig;
  readonly clock?: Clock;
  readonly logger?: Logger;
}

/**
 * A client for any Kubernetes cluster: `await createClient({ kubeconfig: { path } })`. Dispose it to close its connection. It does not read the
 * environment: pass `process.env.KUBECONFIG` and the home directory as values.
 */
export async function createClient(options: CreateClientOptions): Promise<Client> {
  const { kubeconfig, clock = realClock, logger = silentLogger, userAgent, rateLimit, fieldManager, onWarning } = options;
  const connection = options.connection ?? (await loadConnection(kubeconfig ?? {})).connection;
  const transport = httpsTransport(connection, { clock, logger }, { ...(userAgent && { userAgent }), ...(rateLimit && { rateLimit }) });
  return new Client(transport, { ...(fieldManager && { fieldManager }), ...(onWarning && { onWarning }) });
}
