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
  /** Those of many pods take turns. */
  readonly lanes?: { readonly statuses: AsyncSemaphore } | undefined;
}

const RETRY = { initialMs: 200, maxMs: 10_000, jitter: 0.2 };

/**
 * Brings one pod's status to the API: one write at a time, always the latest, only what differs. States that do not last longer than a turn
 * of the event loop are never written. A write names the pod's identity, so that it never reaches a successor of the same name, and carries
 * no resource version, so that it never conflicts.
 */
export class StatusWriter {
  #wanted: core.PodStatus | undefined;
  #known: core.PodStatus;
  #knownVersion = 0;
  #writing: Promise<void> | undefined;

  constructor(
    private readonly pod: core.Pod,
    private readonly deps: StatusWriterDeps,
  ) {
    this.#known = pod.status ?? {};
    this.#knownVersion = versionOf(pod);
  }

  /** What the API shows, as far as is known. */
  get known(): core.PodStatus {
    return this.#known;
  }

  /** The API told of the pod. */
  observe(pod: core.Pod): void {
    if (versionOf(pod) < this.#knownVersion) return;
    this.#knownVersion = versionOf(pod);
    this.#known = pod.status ?? {};
  }

  want(status: core.PodStatus): void {
    this.#wanted = status;
    if (this.#writing === undefined && statusPatch(this.#known, status) === undefined) return;
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
    });
  }

  /** Resolves when the API has the latest status, or the pod is gone. */
  async flushed(): Promise<void> {
    await this.#writing;
  }

  async #writeAll(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    const backoff = new Backoff(RETRY, this.deps.random);
    const { lanes, signal, clock } = this.deps;
    while (!signal.aborted) {
      const outcome = await (lanes === undefined ? this.#writeLatest() : lanes.statuses.run(() => this.#writeLatest()));
      if (outcome === 'done') return;
      if (outcome === 'outdated') backoff.reset();
      else await clock.sleep(backoff.next(), signal).catch(() => {});
    }
  }

  async #writeLatest(): Promise<'done' | 'outdated' | 'failed'> {
    const wanted = this.#wanted;
    const patch = wanted && statusPatch(this.#known, wanted);
    if (patch === undefined || this.deps.signal.aborted) return 'done';
    if (!(await this.#write(patch))) return 'failed';
    // What the server would not take as it was sent is not sent again and again.
    return this.#wanted === wanted ? 'done' : 'outdated';
  }

  /** False when another try may succeed. */
  async #write(status: object): Promise<boolean> {
    const { client, logger } = this.deps;
    const { uid } = this.pod.metadata;
    try {
      const patch = { metadata: { uid }, status };
      this.observe(await client.of(core.Pod).patch(this.pod.metadata, patch, { type: 'strategic', subresource: 'status' }));
      return true;
    } catch (error) {
      const isGone = isStatusReason(error, 'NotFound') || isStatusReason(error, 'Conflict') || isStatusReason(error, 'Invalid');
      if (isGone) this.#wanted = undefined;
      const fields = { pod: `${this.pod.metadata.namespace}/${this.pod.metadata.name}`, error };
      if (isStatusReason(error, 'Invalid')) logger.warn('the status of a pod was refused', fields);
      else logger.debug('the status of a pod could not be written', fields);
      return isGone;
    }
  }
}

/** Resource versions of one server can be compared. One that is no number is taken as newer. */
function versionOf({ metadata: { resourceVersion = '' } }: core.Pod): number {
  return /^\d+$/.test(resourceVersion) ? Number(resourceVersion) : Number.MAX_SAFE_INTEGER;
}
