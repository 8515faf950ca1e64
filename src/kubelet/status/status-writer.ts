import { core } from '#api';
import { type AsyncSemaphore, Backoff, type Clock, type Logger, type Random } from '#base';
import type { Client } from '#client';
import { isStatusReason } from '#machinery';
import { statusPatch } from './status-patch.ts';

export interface StatusWriterDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** Limits concurrent writes of many pods. */
  readonly requestLimits?: { readonly statuses: AsyncSemaphore } | undefined;
}

interface PodIdentity {
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly uid?: string | undefined;
}

/** How long a write waits for volumes that are almost ready. */
const HOLD_MS = 20;
const RETRY = { initialMs: 200, maxMs: 10_000, jitter: 0.2 };

/**
 * Writes one pod's status to the API: one write at a time, always the latest, only the difference. States that last less than a turn
 * of the event loop are never written. Writes have the pod's uid as a precondition, so that they never reach a successor of the same name, and
 * no resource version, so that they never conflict.
 */
export class StatusWriter {
  #desired: core.PodStatus | undefined;
  #current: core.PodStatus;
  #currentVersion = 0;
  #pendingWrite: Promise<void> | undefined;
  #pendingHold: Promise<unknown> | undefined;
  /** Not the whole pod: its first state would stay in memory. */
  readonly #identity: PodIdentity;

  constructor(
    pod: core.Pod,
    private readonly deps: StatusWriterDeps,
    /** The object that is written, if it is not the pod itself; undefined: it does not exist at the moment. */
    private readonly target?: () => core.Pod | undefined,
  ) {
    const { name, namespace, uid } = pod.metadata;
    this.#identity = { name, namespace, uid };
    this.#current = pod.status ?? {};
    this.#currentVersion = versionOf(pod);
  }

  /** Called with each state from the API. */
  observe(pod: core.Pod): void {
    if (versionOf(pod) < this.#currentVersion) return;
    this.#currentVersion = versionOf(pod);
    this.#current = pod.status ?? {};
  }

  /** The API object was replaced or recreated: only its own state is known. */
  retarget(object: core.Pod): void {
    this.#currentVersion = 0;
    this.observe(object);
  }

  want(status: core.PodStatus): void {
    this.#desired = status;
    if (this.#pendingWrite === undefined && statusPatch(this.#current, status) === undefined) return;
    this.#pendingWrite ??= this.#writeAll().finally(() => {
      this.#pendingWrite = undefined;
    });
  }

  /**
   * Delays the next write briefly, until the work is done: most volumes are ready at once, and the states in between are shorter than a
   * request.
   */
  hold(work: Promise<unknown>): void {
    const settled = () => {
      if (this.#pendingHold === hold) this.#pendingHold = undefined;
    };
    const hold = work.then(settled, settled);
    this.#pendingHold = hold;
  }

  /** Resolves when the latest status is written, or the pod is deleted. */
  async flushed(): Promise<void> {
    await this.#pendingWrite;
  }

  async #writeAll(): Promise<void> {
    await nextTurn();
    await this.#released();
    const backoff = new Backoff(RETRY, this.deps.random);
    const { requestLimits, signal, clock } = this.deps;
    while (!signal.aborted) {
      const outcome = await (requestLimits === undefined ? this.#writeLatest() : requestLimits.statuses.run(() => this.#writeLatest()));
      if (outcome === 'done') return;
      if (outcome === 'outdated') backoff.reset();
      else await clock.sleep(backoff.next(), signal).catch(() => {});
    }
  }

  async #released(): Promise<void> {
    if (this.#pendingHold === undefined) return;
    const { clock, signal } = this.deps;
    const giveUp = new AbortController();
    const late = clock.sleep(HOLD_MS, AbortSignal.any([signal, giveUp.signal])).catch(() => {});
    await Promise.race([this.#pendingHold, late]);
    giveUp.abort();
    await nextTurn();
  }

  async #writeLatest(): Promise<'done' | 'outdated' | 'failed'> {
    const desired = this.#desired;
    const patch = desired && statusPatch(this.#current, desired);
    if (patch === undefined || this.deps.signal.aborted || this.#targetIdentity() === undefined) return 'done';
    if (!(await this.#write(patch))) return 'failed';
    // A status that the server changes is not sent again.
    return this.#desired === desired ? 'done' : 'outdated';
  }

  #targetIdentity(): PodIdentity | undefined {
    return this.target === undefined ? this.#identity : this.target()?.metadata;
  }

  /** False when a retry may succeed. */
  async #write(status: object): Promise<boolean> {
    const { client, logger } = this.deps;
    const target = this.#targetIdentity() ?? this.#identity;
    try {
      const patch = { metadata: { uid: target.uid }, status };
      this.observe(await client.of(core.Pod).patch(target, patch, { type: 'strategic', subresource: 'status' }));
      return true;
    } catch (error) {
      const isGone = isStatusReason(error, 'NotFound') || isStatusReason(error, 'Conflict') || isStatusReason(error, 'Invalid');
      if (isGone) this.#desired = undefined;
      const fields = { pod: `${this.#identity.namespace}/${this.#identity.name}`, error };
      if (isStatusReason(error, 'Invalid')) logger.warn('the API server rejected a pod status', fields);
      else logger.debug('the status of a pod could not be written', fields);
      return isGone;
    }
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Resource versions of one server are comparable. A non-numeric one counts as newer. */
function versionOf({ metadata: { resourceVersion = '' } }: core.Pod): number {
  return /^\d+$/.test(resourceVersion) ? Number(resourceVersion) : Number.MAX_SAFE_INTEGER;
}
