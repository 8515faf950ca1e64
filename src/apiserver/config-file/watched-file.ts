import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Logger } from '#base';
import { ReloadMetrics, type ReloadMetricsDeps } from './reload-metrics.ts';

export interface WatchedFileOptions<T> {
  readonly path: string;
  /** Throws with a description of the error. */
  readonly parse: (text: string) => T;
  /** The name in messages and metrics, such as `authentication`. */
  readonly subject: string;
}

export interface WatchedFileDeps extends ReloadMetricsDeps {
  readonly logger: Logger;
}

/** Upstream's polling interval. */
const CHECK_MS = 60_000;

/** A configuration file that is reloaded when it changes. An invalid file is ignored. */
export class WatchedFile<T> {
  readonly #options: WatchedFileOptions<T>;
  readonly #deps: WatchedFileDeps;
  readonly #metrics: ReloadMetrics;
  #hash: string;
  #current: T;

  /** Throws when the file is invalid. */
  constructor(options: WatchedFileOptions<T>, deps: WatchedFileDeps) {
    this.#options = options;
    this.#deps = deps;
    const text = this.#read();
    this.#hash = hashOf(text);
    this.#current = this.#parse(text);
    this.#metrics = new ReloadMetrics(options.subject, text, deps);
  }

  get current(): T {
    return this.#current;
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#deps.clock.sleep(CHECK_MS, signal).catch(() => {});
      if (!signal.aborted) this.reload();
    }
  }

  /** Loads the file if it has changed. */
  reload(): void {
    const { subject, path } = this.#options;
    const { logger } = this.#deps;
    try {
      const text = this.#read();
      if (hashOf(text) === this.#hash) return;
      this.#current = this.#parse(text);
      this.#hash = hashOf(text);
      this.#metrics.succeeded(text);
      logger.info(`the ${subject} configuration was reloaded`, { path });
    } catch (error) {
      this.#metrics.failed();
      logger.error(`the ${subject} configuration is invalid; keeping the previous one`, { path, error });
    }
  }

  #read(): string {
    const { path, subject } = this.#options;
    try {
      return readFileSync(path, 'utf8');
    } catch (error) {
      throw new Error(`cannot read the ${subject} configuration ${path} (${(error as NodeJS.ErrnoException).code})`, { cause: error });
    }
  }

  #parse(text: string): T {
    const { path, subject, parse } = this.#options;
    try {
      return parse(text);
    } catch (error) {
      throw new Error(`the ${subject} configuration ${path} cannot be used: ${(error as Error).message}`, { cause: error });
    }
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
