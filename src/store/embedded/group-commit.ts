import { Batch, type BatchBase } from './batch.ts';

export interface GroupCommitOptions {
  /** What the next batch builds on. */
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

/** A batch takes no more than this many writes, so that the first of them does not wait too long. */
const MAX_WRITES = 4_000;

/**
 * Many writers share one flush: what arrives in one turn of the event loop goes into the open batch; while a batch is on its way to the
 * medium, others wait, and form the next one together.
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

  /** Decides in the open batch, or in the next one. Resolves when what was decided is durable. */
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

  /** Resolves when others have had their turn: at once when no one writes, else with the next commit. */
  turn(): Promise<void> {
    if (!this.#sealed) return new Promise((resolve) => setImmediate(resolve));
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  /** No batch is begun until `release`; resolves when none is on its way. */
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

  /** Runs just before lmdb starts the commit: it asks for its own turn right after this one was asked for. */
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

  /** What is durable is acknowledged, and the next batch begins, even if publishing it fails. */
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

  /** What waits is given up; what is decided already goes on, and only its answer is given up. */
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
