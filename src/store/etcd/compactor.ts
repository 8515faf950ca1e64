import type { Clock, Logger } from '#base';
import type { Cluster } from './cluster.ts';
import { isCompacted } from './etcd-error.ts';
import { compareVersion, decodeTxn, encodeCompact, encodeTxn, getOperation, putOperation } from './messages.ts';

export interface CompactorOptions {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly intervalMs: number;
}

/** The key by which API servers, upstream's included, elect the one that compacts. Its version counts the compactions. */
const KEY = Buffer.from('compact_rev_key');

/**
 * Compacts history older than the interval. In each round one API server writes the key with the current revision, and compacts up to what
 * was current a round ago; the others see that it is done.
 */
export class Compactor {
  readonly #options: CompactorOptions;
  readonly #stopped = new AbortController();
  readonly #running: Promise<void>;

  constructor(options: CompactorOptions) {
    this.#options = options;
    this.#running = Number.isFinite(options.intervalMs) ? this.#run() : Promise.resolve();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { clock, intervalMs, logger } = this.#options;
    const { signal } = this.#stopped;
    let state: Round = { round: 0, revision: 0 };
    while (!signal.aborted) {
      try {
        await clock.sleep(intervalMs, signal);
        state = await this.#compact(state, signal);
      } catch (error) {
        if (!signal.aborted) logger.warn('could not compact etcd', { error });
      }
    }
  }

  async #compact({ round, revision }: Round, signal: AbortSignal): Promise<Round> {
    const { cluster } = this.#options;
    const value = Buffer.from(String(revision));
    const message = encodeTxn({
      compare: [compareVersion(KEY, round)],
      success: [putOperation(KEY, value, undefined)],
      failure: [getOperation(KEY)],
    });
    const answer = decodeTxn(await cluster.call({ method: 'etcdserverpb.KV/Txn', message, kind: 'write', signal }), '');
    if (!answer.succeeded) return { round: answer.ranges[0]?.entries[0]?.version ?? 0, revision: answer.revision };
    if (revision > 0) await this.#compactAt(revision, signal);
    return { round: round + 1, revision: answer.revision };
  }

  async #compactAt(revision: number, signal: AbortSignal): Promise<void> {
    try {
      await this.#options.cluster.call({ method: 'etcdserverpb.KV/Compact', message: encodeCompact(revision), kind: 'write', signal });
    } catch (error) {
      if (!isCompacted(error)) throw error;
    }
  }
}

interface Round {
  readonly round: number;
  /** The current revision at the end of the previous round. */
  readonly revision: number;
}
