import { type Clock, type Logger, repeat } from '#base';
import type { Client } from '#client';
import type { Store } from '#store';
import { publishServers } from './kubernetes-endpoints.ts';

export interface ServerLeasesDeps {
  readonly store: Store;
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Under which address and port others reach this server. */
  readonly advertise: { readonly address: string; readonly port: number };
}

const PREFIX = '/registry/masterleases/';
const LEASE_SECONDS = 15;
const INTERVAL_MS = 10_000;

/**
 * Several servers on one store: each keeps a key that expires, and all of them publish whichever are there as the endpoints of the
 * kubernetes service. A server that dies without a word is gone from there within seconds.
 */
export class ServerLeases {
  readonly #deps: ServerLeasesDeps;

  constructor(deps: ServerLeasesDeps) {
    this.#deps = deps;
  }

  /** Tells the others of this server, and everybody of them all. */
  async renew(): Promise<void> {
    const { store, advertise } = this.#deps;
    const { address } = advertise;
    const value = { kind: 'Endpoints', apiVersion: 'v1', metadata: { name: address }, subsets: [{ addresses: [{ ip: address }] }] };
    const put = { type: 'put', key: PREFIX + address, value: Buffer.from(JSON.stringify(value)), ttlSeconds: LEASE_SECONDS } as const;
    await store.txn({ write: [put] });
    await this.#publish();
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#deps;
    await repeat({ clock, intervalMs: INTERVAL_MS, signal }, () =>
      this.renew().catch((error: unknown) => logger.error('cannot tell others of this server', { error })),
    );
  }

  /** Takes this server back: it is about to stop. */
  async end(): Promise<void> {
    const { store, advertise, logger } = this.#deps;
    try {
      await store.txn({ write: [{ type: 'delete', key: PREFIX + advertise.address }] });
      await this.#publish();
    } catch (error) {
      logger.warn('cannot take this server out of the endpoints; its lease will end', { error });
    }
  }

  async #publish(): Promise<void> {
    const { store, client, advertise } = this.#deps;
    const page = await store.range({ prefix: PREFIX });
    if (page.status !== 'ok') return;
    const addresses = page.entries.map(({ key }) => key.slice(PREFIX.length)).toSorted();
    // The last one to go leaves its traces, so that clients find it when it comes back.
    if (addresses.length > 0) await publishServers(client, { addresses, port: advertise.port });
  }
}
