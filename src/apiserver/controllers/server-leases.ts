import { type Clock, type Logger, repeat } from '#base';
import type { Client } from '#client';
import type { Store } from '#store';
import { publishServers } from '../bootstrap/kubernetes-endpoints.ts';

export interface ServerLeasesDeps {
  readonly store: Store;
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The advertised address and port. */
  readonly advertise: { readonly address: string; readonly port: number };
  /** The prefix of all keys in the store. */
  readonly keyPrefix: string;
}

const LEASE_SECONDS = 15;
const INTERVAL_MS = 10_000;

/**
 * With several servers on one store, each keeps an expiring key, and all of them publish the live ones as endpoints of the `kubernetes`
 * service. A server that crashes disappears within seconds.
 */
export class ServerLeases {
  readonly #deps: ServerLeasesDeps;
  readonly #prefix: string;

  constructor(deps: ServerLeasesDeps) {
    this.#deps = deps;
    this.#prefix = `${deps.keyPrefix}/masterleases/`;
  }

  /** Renews this server's key and publishes the endpoints of all servers. */
  async renew(): Promise<void> {
    const { store, advertise } = this.#deps;
    const { address } = advertise;
    const value = { kind: 'Endpoints', apiVersion: 'v1', metadata: { name: address }, subsets: [{ addresses: [{ ip: address }] }] };
    const put = { type: 'put', key: this.#prefix + address, value: Buffer.from(JSON.stringify(value)), ttlSeconds: LEASE_SECONDS } as const;
    await store.txn({ write: [put] });
    await this.#publish();
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#deps;
    const onError = (error: unknown) => logger.error('advertising this API server failed', { error });
    await repeat({ clock, intervalMs: INTERVAL_MS, signal, onError }, () => this.renew());
  }

  /** Removes this server's key before it stops. */
  async end(): Promise<void> {
    const { store, advertise, logger } = this.#deps;
    try {
      await store.txn({ write: [{ type: 'delete', key: this.#prefix + advertise.address }] });
      await this.#publish();
    } catch (error) {
      logger.warn('cannot take this server out of the endpoints; its lease will end', { error });
    }
  }

  async #publish(): Promise<void> {
    const { store, client, advertise } = this.#deps;
    const page = await store.range({ prefix: this.#prefix });
    if (page.status !== 'ok') return;
    const addresses = page.entries.map(({ key }) => key.slice(this.#prefix.length)).toSorted();
    // The last server leaves its endpoints, so that clients find it after a restart.
    if (addresses.length > 0) await publishServers(client, { addresses, port: advertise.port });
  }
}
