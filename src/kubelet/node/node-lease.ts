import { coordination, type core } from '#api';
import { Backoff, type Clock, type Logger, type Random, type TimerHandle } from '#base';
import type { Client } from '#client';
import { formatMicroTime, isStatusReason } from '#machinery';
import type { SharedTicker } from '../shared-ticker.ts';

export interface NodeLeaseDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly ticker: SharedTicker;
  readonly signal: AbortSignal;
  /** The registered node, which owns the lease. */
  node(): core.Node | undefined;
}

const NAMESPACE = 'kube-node-lease';
const RETRY = { initialMs: 200, maxMs: 7000 };

/** Renews the node's lease at a quarter of its duration: the node's heartbeat. */
export class NodeLease {
  readonly #backoff: Backoff;
  #lease: coordination.Lease | undefined;
  #timer: TimerHandle | undefined;

  constructor(
    private readonly nodeName: string,
    private readonly durationSeconds: number,
    private readonly deps: NodeLeaseDeps,
  ) {
    this.#backoff = new Backoff(RETRY);
  }

  start(): void {
    void this.#renew();
  }

  stop(): void {
    this.#timer?.cancel();
  }

  /** Never rejects: tries again until the node stops. */
  async #renew(): Promise<void> {
    const { clock, ticker, signal, logger } = this.deps;
    if (signal.aborted) return;
    try {
      await this.#write();
      this.#backoff.reset();
      if (!signal.aborted) this.#timer = ticker.after(this.durationSeconds * 250, () => void this.#renew());
    } catch (error) {
      if (signal.aborted) return;
      this.#lease = undefined;
      logger.debug('the lease of the node could not be renewed', { node: this.nodeName, error });
      this.#timer = clock.setTimer(this.#backoff.next(), () => void this.#renew());
    }
  }

  async #write(): Promise<void> {
    const leases = this.deps.client.of(coordination.Lease);
    const lease = this.#lease ?? (await this.#read());
    if (lease === undefined) this.#lease = await leases.create(this.#newLease());
    else this.#lease = await leases.update({ ...lease, ...this.#owned(lease), spec: { ...lease.spec, ...this.#spec() } });
  }

  async #read(): Promise<coordination.Lease | undefined> {
    try {
      return await this.deps.client.of(coordination.Lease).get({ name: this.nodeName, namespace: NAMESPACE });
    } catch (error) {
      if (isStatusReason(error, 'NotFound')) return undefined;
      throw error;
    }
  }

  #newLease() {
    const owners = this.#owners();
    return { metadata: { name: this.nodeName, namespace: NAMESPACE, ...(owners && { ownerReferences: owners }) }, spec: this.#spec() };
  }

  #spec() {
    const renewTime = formatMicroTime(this.deps.clock.now());
    return { holderIdentity: this.nodeName, leaseDurationSeconds: this.durationSeconds, renewTime };
  }

  /** A lease created before its node gets the owner reference later. */
  #owned(lease: coordination.Lease): Pick<coordination.Lease, 'metadata'> | undefined {
    if ((lease.metadata.ownerReferences ?? []).length > 0) return undefined;
    const owners = this.#owners();
    return owners && { metadata: { ...lease.metadata, ownerReferences: owners } };
  }

  #owners() {
    const uid = this.deps.node()?.metadata.uid;
    return uid === undefined ? undefined : [{ apiVersion: 'v1', kind: 'Node', name: this.nodeName, uid }];
  }
}
