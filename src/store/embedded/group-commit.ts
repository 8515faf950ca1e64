import { Batch, type BatchBase } from './batch.ts';

export interface GroupCommitOptions {
  /** The state that the next batch builds on. */
  base(): Omit<BatchBase, 'onFirstWrite'>;
  /** A batch is durable. Called before its writes resolve. */
  onCommit(batch: Batch): void;
  /** A batch was not written. Resolves to the error of its writes. */
  onFailure(batch: Batch, cause: unknown): Promise<unknown>;
  /** Publishing a batch failed, which is a bug. */
  onFault(error: unknown): void;
}

interface Job<T> {
  readonly decide: (batch: Batch) => T;
  readonly resolve: (result: T) => void;
  readonly reject: (error: unknown) => void;
  result: T | undefined;
}

/** The maximum number of writes in a batch, so that the first one does not wait too long. */
const MAX_WRITES = 4_000;

/**
 * Group commit: writes of one turn of the event loop share a batch and its flush; while a batch is being written to
 * disk, further writes form the next one.
 */
export class GroupCommit {
  readonly #options: GroupCommitOptions;
  #batch: Batch;
  /** Decided in the open batch, waiting for it to be durable. */
  #jobs: Job<never>[] = [];
  #waiting: Job<never>[] = [];
  #sealed = false;
  #lastBatchJobs = 0;
  #isHeld = false;
  #idle: (() => void)[] = [];

  constructor(options: GroupCommitOptions) {
    this.#options = options;
    this.#batch = this.#newBatch();
  }

  /** Decides in the open batch, or in the next one. Resolves when the decision is durable. */
  run<T>(decide: (batch: Batch) => T, signal?: AbortSignal): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const plain: Job<T> = { decide, resolve, reject, result: undefined };
      const job = signal === undefined ? plain : this.#abortable(plain, signal);
      if (this.#open) this.#decide(job as unknown as Job<never>);
      else this.#waiting.push(job as unknown as Job<never>);
    });
  }

  /** Size of the last batch: whether background work would slow writers down. */
  get lastBatchJobs(): number {
    return this.#lastBatchJobs;
  }

  /** Yields to writers: resolves immediately if there are none, else with the next commit. */
  turn(): Promise<void> {
    if (!this.#sealed) return new Promise((resolve) => setImmediate(resolve));
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  /** Stops new batches until `release`; resolves when none is in progress. */
  async hold(): Promise<void> {
    this.#isHeld = true;
    if (this.#sealed || this.#batch.writes > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  release(): void {
    this.#isHeld = false;
    this.#next();
  }

  /** Resolves when everything accepted so far is done. */
  async drain(): Promise<void> {
    while (this.#sealed || this.#batch.writes > 0 || this.#waiting.length > 0) {
      await new Promise<void>((resolve) => this.#idle.push(resolve));
    }
  }

  get #open(): boolean {
    return !this.#sealed && !this.#isHeld && this.#batch.writes < MAX_WRITES;
  }

  #newBatch(): Batch {
    return new Batch({ ...this.#options.base(), onFirstWrite: () => this.#sealSoon() });
  }

  #decide(job: Job<never>): void {
    try {
      const { result, holdsNow } = this.#batch.decide(job.decide);
      job.result = result;
      if (holdsNow) job.resolve(result);
      else this.#jobs.push(job);
    } catch (error) {
      job.reject(error);
    }
  }

  /** Runs just before lmdb starts the commit, which lmdb schedules right after this. */
  #sealSoon(): void {
    setImmediate(() => {
      this.#sealed = true;
      const batch = this.#batch;
      batch
        .seal()
        .then(
          () => this.#committed(batch),
          (error: unknown) => this.#failed(batch, error),
        )
        .catch((error: unknown) => this.#options.onFault(error));
    });
  }

  /** Durable writes are acknowledged, and the next batch begins, even if publishing fails. */
  #committed(batch: Batch): void {
    const jobs = this.#jobs;
    this.#lastBatchJobs = jobs.length;
    try {
      this.#options.onCommit(batch);
    } finally {
      for (const job of jobs) job.resolve(job.result as never);
      this.#next();
    }
  }

  async #failed(batch: Batch, cause: unknown): Promise<void> {
    const jobs = this.#jobs;
    const error = await this.#options.onFailure(batch, cause).catch((failure: unknown) => failure);
    for (const job of jobs) job.reject(error);
    this.#next();
  }

  #next(): void {
    this.#sealed = false;
    this.#jobs = [];
    this.#batch = this.#newBatch();
    for (const wake of this.#idle.splice(0)) wake();
    let count = 0;
    while (count < this.#waiting.length && this.#open) this.#decide(this.#waiting[count++]!);
    this.#waiting.splice(0, count);
  }

  /** Cancels a waiting write; a decided one continues, and only its result is dropped. */
  #abortable<T>(job: Job<T>, signal: AbortSignal): Job<T> {
    const abort = () => {
      const at = this.#waiting.indexOf(abortable as unknown as Job<never>);
      if (at >= 0) this.#waiting.splice(at, 1);
      job.reject(signal.reason);
    };
    const settled =
      <A>(settle: (argument: A) => void) =>
      (argument: A) => {
        signal.removeEventListener('abort', abort);
        settle(argument);
      };
    const abortable: Job<T> = { ...job, resolve: settled(job.resolve), reject: settled(job.reject) };
    signal.addEventListener('abort', abort, { once: true });
    return abortable;
  }
}
