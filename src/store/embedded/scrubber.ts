import type { Logger } from '#base';
import { StoreError } from '../store-error.ts';
import type { GroupCommit } from './group-commit.ts';
import type { StateRecord } from './records.ts';

export interface ScrubberOptions {
  readonly commits: GroupCommit;
  readonly logger: Logger;
  /** The published state. */
  state(): StateRecord;
  /** The oldest revision of a read in progress; Infinity when there is none. */
  oldestRead(): number;
}

/** Versions removed per commit: few while writers are busy, more with a large backlog, so that compaction always catches up. */
const BUSY_VERSIONS = 16;
const BUSY_BACKLOG_SHARE = 5_000;
const IDLE_VERSIONS = 1_000;

/** Removes compacted versions, a few with each commit, so that writes do not wait. */
export class Scrubber {
  readonly #options: ScrubberOptions;
  #running: Promise<void> | undefined;
  #stopped = false;

  constructor(options: ScrubberOptions) {
    this.#options = options;
  }

  /** There may be something to do. */
  wake(): void {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  /** Resolves when nothing is in progress. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  /** Resolves when everything compacted so far is removed. */
  async finish(): Promise<void> {
    this.wake();
    await this.#running;
  }

  async #run(): Promise<void> {
    try {
      while (!this.#stopped && (await this.#step()));
    } catch (error) {
      const closed = error instanceof StoreError && error.code === 'closed';
      if (!closed) this.#options.logger.warn('compaction failed; the next one continues it', { error });
    }
  }

  async #step(): Promise<boolean> {
    const { commits, state, oldestRead } = this.#options;
    const { compactRevision, scrubbedRevision } = state();
    const through = Math.min(compactRevision, oldestRead());
    if (scrubbedRevision >= through) return false;
    const backlog = through - scrubbedRevision;
    // One write of the last batch was the previous step.
    const busy = commits.lastBatchJobs > 1;
    const budget = busy ? BUSY_VERSIONS + Math.floor(backlog / BUSY_BACKLOG_SHARE) : IDLE_VERSIONS;
    await commits.run((batch) => batch.scrub(through, budget));
    return true;
  }
}
