import { coordination } from '#api';
import { type Clock, childSignal, type Logger, type Random, timeoutSignal } from '#base';
import { formatMicroTime, isStatusReason } from '#machinery';
import type { Client } from './client.ts';
import type { EventRecorder } from './events/event-recorder.ts';
import type { ObjectKey } from './kube-object.ts';
import type { LeaderHealth } from './leader-health.ts';

export interface LeaderElectionConfig {
  /** The Lease that candidates compete for. */
  readonly lease: ObjectKey;
  /** The candidate's unique identity. */
  readonly identity: string;
  /** How long other candidates wait after the last observed renewal. Default 15 s. */
  readonly leaseDurationMs?: number;
  /** How long the leader tries to renew before it gives up. Default 10 s. */
  readonly renewDeadlineMs?: number;
  /** The interval between attempts. Default 2 s. */
  readonly retryPeriodMs?: number;
  /** Release the lease on a clean stop, so that another candidate takes over at once. Default false. */
  readonly releaseOnStop?: boolean;
}

export interface LeaderElectionDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly events?: EventRecorder;
  /** Reports the state of the election. */
  readonly leaderHealth?: LeaderHealth | undefined;
  /** Called for each new leader, including the first. */
  readonly onNewLeader?: (identity: string) => void;
}

const JITTER = 1.2;

/** Upstream's leader election on a Lease: clocks of different machines need not agree, only run at about the same speed. */
export class LeaderElector {
  readonly #config: Required<LeaderElectionConfig>;
  readonly #deps: LeaderElectionDeps;
  #observed: coordination.Lease | undefined;
  /** On the local clock. */
  #observedAtMs = 0;
  #reported = '';

  constructor(config: LeaderElectionConfig, deps: LeaderElectionDeps) {
    this.#config = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000, releaseOnStop: false, ...config };
    this.#deps = deps;
    validateConfig(this.#config);
    deps.leaderHealth?.watch(this);
  }

  get leaseName(): string {
    return this.#config.lease.name;
  }

  get expiredMs(): number {
    return this.#deps.clock.now() - this.#observedAtMs - this.#config.leaseDurationMs;
  }

  get leader(): string {
    return this.#observed?.spec?.holderIdentity ?? '';
  }

  get isLeader(): boolean {
    return this.leader === this.#config.identity;
  }

  /** Waits to lead, then runs `lead` until its signal aborts: with ours, or because the lease was lost. Throws if it was lost. */
  async run(signal: AbortSignal, lead: (signal: AbortSignal) => Promise<void>): Promise<void> {
    await this.#acquire(signal);
    if (signal.aborted) return;
    const term = childSignal(signal);
    try {
      const leading = lead(term.signal);
      const isLeaseLost = await Promise.race([this.#renewUntilLost(term.signal), leading.then(() => false)]);
      term.abort(new DOMException(isLeaseLost ? 'the leader lease was lost' : 'leading ended', 'AbortError'));
      await leading.catch((error: unknown) => {
        if (!isLeaseLost) throw error;
      });
      if (isLeaseLost) throw new Error('leader election lost');
    } finally {
      term[Symbol.dispose]();
      this.#record('stopped leading');
      if (this.#config.releaseOnStop) await this.#release();
    }
  }

  async #acquire(signal: AbortSignal): Promise<void> {
    const { clock, logger, random } = this.#deps;
    const { lease } = this.#config;
    logger.info('attempting to acquire the leader lease', { lease: lease.name });
    while (!signal.aborted) {
      const acquired = await this.#tryAcquireOrRenew(signal);
      this.#reportLeader();
      if (acquired) {
        this.#record('became leader');
        logger.info('acquired the leader lease', { lease: lease.name });
        return;
      }
      await clock.sleep(this.#config.retryPeriodMs * (1 + random.float() * JITTER), signal).catch(() => {});
    }
  }

  /** True when the lease could not be renewed in time; false when the signal aborted. */
  async #renewUntilLost(signal: AbortSignal): Promise<boolean> {
    while (!signal.aborted) {
      const renewed = await this.#renewInTime(signal);
      this.#reportLeader();
      if (signal.aborted) return false;
      if (!renewed) {
        this.#deps.logger.warn('could not renew the leader lease in time', { lease: this.#config.lease.name });
        return true;
      }
      await this.#deps.clock.sleep(this.#config.retryPeriodMs, signal).catch(() => {});
    }
    return false;
  }

  async #renewInTime(signal: AbortSignal): Promise<boolean> {
    using deadline = timeoutSignal(this.#deps.clock, this.#config.renewDeadlineMs, signal);
    while (!deadline.signal.aborted) {
      if (await this.#tryAcquireOrRenew(deadline.signal)) return true;
      await this.#deps.clock.sleep(this.#config.retryPeriodMs, deadline.signal).catch(() => {});
    }
    return false;
  }

  async #tryAcquireOrRenew(signal: AbortSignal): Promise<boolean> {
    try {
      return (await this.#renewOptimistically(signal)) || (await this.#contend(signal));
    } catch (error) {
      if (!signal.aborted) this.#deps.logger.warn('the leader lease cannot be read or written', { lease: this.#config.lease.name, error });
      return false;
    }
  }

  /** Renews with the last observed lease, without reading it: one request in the usual case. */
  async #renewOptimistically(signal: AbortSignal): Promise<boolean> {
    const { clock, logger } = this.#deps;
    const last = this.#observed;
    if (last === undefined || !this.isLeader || !this.#isValid(clock.now())) return false;
    try {
      this.#recordLease(await this.#leases.update({ ...last, spec: this.#claim(last.spec ?? {}, clock.now()) }, { signal }));
      return true;
    } catch (error) {
      logger.debug('renewing the leader lease as last seen failed; reading it', { error });
      return false;
    }
  }

  async #contend(signal: AbortSignal): Promise<boolean> {
    const now = this.#deps.clock.now();
    const current = await this.#read(signal);
    if (current === undefined) {
      const { name, namespace } = this.#config.lease;
      const spec = { ...this.#claim({}, now), leaseTransitions: 0 };
      this.#recordLease(await this.#leases.create({ metadata: { name, ...(namespace && { namespace }) }, spec }, { signal }));
      return true;
    }
    if (current.metadata.resourceVersion !== this.#observed?.metadata.resourceVersion) this.#recordLease(current);
    if (this.leader !== '' && !this.isLeader && this.#isValid(now)) return false;
    this.#recordLease(await this.#leases.update({ ...current, spec: this.#claim(current.spec ?? {}, now) }, { signal }));
    return true;
  }

  async #read(signal: AbortSignal): Promise<coordination.Lease | undefined> {
    try {
      return await this.#leases.get(this.#config.lease, { signal });
    } catch (error) {
      if (isStatusReason(error, 'NotFound')) return undefined;
      throw error;
    }
  }

  get #leases() {
    return this.#deps.client.of(coordination.Lease);
  }

  #claim(last: coordination.LeaseSpec, now: number): coordination.LeaseSpec {
    const time = formatMicroTime(now);
    const { identity, leaseDurationMs } = this.#config;
    const isHolder = last.holderIdentity === identity;
    return {
      ...last,
      holderIdentity: identity,
      leaseDurationSeconds: Math.floor(leaseDurationMs / 1000),
      renewTime: time,
      acquireTime: isHolder ? (last.acquireTime ?? time) : time,
      leaseTransitions: (last.leaseTransitions ?? 0) + (isHolder ? 0 : 1),
    };
  }

  #recordLease(lease: coordination.Lease): void {
    this.#observed = lease;
    this.#observedAtMs = this.#deps.clock.now();
  }

  #isValid(now: number): boolean {
    return this.#observedAtMs + this.#config.leaseDurationMs > now;
  }

  async #release(): Promise<void> {
    const { clock, logger } = this.#deps;
    if (!this.isLeader) return;
    using deadline = timeoutSignal(clock, this.#config.renewDeadlineMs);
    try {
      const current = await this.#leases.get(this.#config.lease, { signal: deadline.signal });
      if (current.spec?.holderIdentity !== this.#config.identity) return;
      const time = formatMicroTime(clock.now());
      const spec = { holderIdentity: '', leaseDurationSeconds: 1, renewTime: time, acquireTime: time };
      const leaseTransitions = current.spec.leaseTransitions ?? 0;
      this.#recordLease(await this.#leases.update({ ...current, spec: { ...spec, leaseTransitions } }, { signal: deadline.signal }));
    } catch (error) {
      logger.warn('the leader lease could not be released; others wait until it expires', { error });
    }
  }

  #reportLeader(): void {
    if (this.leader === this.#reported) return;
    this.#reported = this.leader;
    this.#deps.onNewLeader?.(this.leader);
  }

  #record(outcome: string): void {
    const { name, namespace } = this.#config.lease;
    const about = this.#observed ?? {
      kind: 'Lease',
      apiVersion: 'coordination.k8s.io/v1',
      metadata: { name, ...(namespace && { namespace }) },
    };
    this.#deps.events?.normal(about, 'LeaderElection', `${this.#config.identity} ${outcome}`);
  }
}

function validateConfig({ leaseDurationMs, renewDeadlineMs, retryPeriodMs, identity }: Required<LeaderElectionConfig>): void {
  if (leaseDurationMs <= renewDeadlineMs) throw new TypeError('leaseDuration must be greater than renewDeadline');
  if (renewDeadlineMs <= JITTER * retryPeriodMs) throw new TypeError('renewDeadline must be greater than retryPeriod*JitterFactor');
  if (retryPeriodMs <= 0) throw new TypeError('retryPeriod must be greater than zero');
  if (identity === '') throw new TypeError('a candidate for leadership needs an identity');
}
