import { createHash } from 'node:crypto';
import { coordination } from '#api';
import { type Clock, type Logger, type Random, repeat } from '#base';
import type { Client } from '#client';
import { formatMicroTime, isStatusReason } from '#machinery';

export interface IdentityLeaseDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

const NAMESPACE = 'kube-system';
const IDENTITY_LABEL = 'apiserver.kubernetes.io/identity';
const COMPONENT = 'kube-apiserver';
const DURATION_SECONDS = 3600;
const RENEW_INTERVAL_MS = 10_000;
const COLLECTION_INTERVAL_MS = 3_600_000;

/** The API server identity: each server maintains a lease in kube-system, and all remove expired ones. */
export class IdentityLease {
  readonly #name: string;
  readonly #holder: string;
  #lease: coordination.Lease | undefined;

  constructor(
    private readonly hostname: string,
    private readonly deps: IdentityLeaseDeps,
  ) {
    this.#name = serverId(hostname);
    this.#holder = `${this.#name}_${deps.random.uuid()}`;
  }

  /** Replaces the lease of an earlier server on this host. */
  async start(): Promise<void> {
    await this.#remove(this.#name);
    await this.renew();
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.deps;
    const onError = (error: unknown) => logger.error('cannot keep the leases of API servers', { error });
    await Promise.all([
      repeat({ clock, intervalMs: RENEW_INTERVAL_MS, signal, onError }, () => this.renew()),
      repeat({ clock, intervalMs: COLLECTION_INTERVAL_MS, signal, onError }, () => this.removeExpired()),
    ]);
  }

  async end(): Promise<void> {
    await this.#remove(this.#name).catch((error: unknown) => this.deps.logger.warn('cannot remove the lease of this server', { error }));
  }

  async renew(): Promise<void> {
    const leases = this.deps.client.of(coordination.Lease);
    try {
      this.#lease = await (this.#lease === undefined ? leases.create(this.#renewed()) : leases.update(this.#renewed()));
    } catch (error) {
      if (!STALE.some((reason) => isStatusReason(error, reason))) throw error;
      // Changed or deleted by another client.
      this.#lease = await leases.get({ namespace: NAMESPACE, name: this.#name }).catch(() => undefined);
      this.#lease = await (this.#lease === undefined ? leases.create(this.#renewed()) : leases.update(this.#renewed()));
    }
  }

  async removeExpired(): Promise<void> {
    const leases = this.deps.client.of(coordination.Lease);
    const labelSelector = `${IDENTITY_LABEL}=${COMPONENT}`;
    const { items } = await leases.list({ namespace: NAMESPACE, labelSelector });
    for (const lease of items) if (this.#isExpired(lease)) await this.#remove(lease.metadata.name, lease.metadata.resourceVersion);
  }

  #isExpired({ spec }: coordination.Lease): boolean {
    const { renewTime, leaseDurationSeconds } = spec ?? {};
    if (renewTime === undefined || leaseDurationSeconds === undefined) return true;
    return Date.parse(renewTime) + leaseDurationSeconds * 1000 < this.deps.clock.now();
  }

  #renewed(): coordination.Lease {
    const metadata = this.#lease?.metadata ?? { name: this.#name, namespace: NAMESPACE };
    const labels = { ...metadata.labels, [IDENTITY_LABEL]: COMPONENT, 'kubernetes.io/hostname': this.hostname };
    const renewTime = formatMicroTime(this.deps.clock.now());
    return {
      ...this.#lease,
      metadata: { ...metadata, labels },
      spec: { holderIdentity: this.#holder, leaseDurationSeconds: DURATION_SECONDS, renewTime },
    };
  }

  async #remove(name: string, resourceVersion?: string): Promise<void> {
    const leases = this.deps.client.of(coordination.Lease);
    try {
      await leases.delete({ namespace: NAMESPACE, name }, resourceVersion ? { preconditions: { resourceVersion } } : {});
    } catch (error) {
      // A lease renewed in the meantime belongs to a live server.
      if (!STALE.some((reason) => isStatusReason(error, reason))) throw error;
    }
  }
}

const STALE = ['Conflict', 'NotFound', 'AlreadyExists'] as const;

/** Constant per host, computed as upstream. */
export function serverId(hostname: string): string {
  const parts = [hostname, COMPONENT].flatMap((text) => {
    const bytes = Buffer.from(text);
    return [Buffer.from([bytes.length >> 8, bytes.length & 0xff]), bytes];
  });
  const digest = createHash('sha256').update(Buffer.concat(parts)).digest();
  return `apiserver-${base32(digest.subarray(0, 16))}`;
}

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';

/** RFC 4648 in lower case, without padding. */
function base32(bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{1,5}/g) ?? []).map((group) => BASE32[Number.parseInt(group.padEnd(5, '0'), 2)]).join('');
}
