import { type Backoff, type Clock, type GrpcConnection, type GrpcError, type GrpcStream, pushAll, type TimerHandle } from '#base';
import { keyBounds } from '../key-bounds.ts';
import type { WatchEnd, WatchEvent, WatchHandle, WatchOptions, WatchSink } from '../store.ts';
import { StoreError } from '../store-error.ts';
import type { Cluster } from './cluster.ts';
import { storeErrorOf, transient } from './etcd-error.ts';
import { decodeWatch, encodeWatchCreate, encodeWatchProgress, type ServerEvent, type WatchResponse } from './messages.ts';

export interface EtcdWatchOptions {
  readonly cluster: Cluster;
  readonly clock: Clock;
  /** The prefix of every key. */
  readonly space: string;
  /** Whether progress notifications on demand can be trusted. */
  readonly progressOnDemand: boolean;
  /** The highest revision that this client has seen. */
  readonly knownRevision: () => number;
  onEnd(watch: EtcdWatch): void;
}

/**
 * A server drops requests for progress while a watch catches up, and one that lags behind answers with an older revision. Upstream's period.
 */
const PROGRESS_MS = 100;

/**
 * One watch on its own stream. When the stream breaks, it resumes, possibly on another member, after the last revision that was
 * delivered: the sink sees neither a gap nor a duplicate.
 */
export class EtcdWatch implements WatchHandle {
  readonly #options: EtcdWatchOptions;
  readonly #watch: WatchOptions;
  readonly #sink: WatchSink;
  readonly #backoff: Backoff;
  readonly #stopped = new AbortController();
  /** The first revision not delivered yet. */
  #next: number;
  #fragments: ServerEvent[] = [];
  #stream: GrpcStream | undefined;
  #created = false;
  /** The revision that a progress mark was requested for. */
  #progressRevision: number | undefined;
  #progressTimer: TimerHandle | undefined;

  constructor(watch: WatchOptions, sink: WatchSink, options: EtcdWatchOptions) {
    this.#options = options;
    this.#watch = watch;
    this.#sink = sink;
    this.#next = watch.fromRevision ?? options.knownRevision() + 1;
    this.#backoff = options.cluster.backoff();
    this.#begin();
  }

  cancel(): void {
    this.#stopped.abort();
    this.#wantProgress(undefined);
    this.#stream?.cancel();
    this.#options.onEnd(this);
  }

  [Symbol.dispose](): void {
    this.cancel();
  }

  requestProgress(): boolean {
    if (!this.#options.progressOnDemand) return false;
    this.#wantProgress(this.#options.knownRevision());
    this.#askProgress();
    return true;
  }

  /** Asks again and again until the mark has come. */
  #wantProgress(revision: number | undefined): void {
    this.#progressRevision = this.#stopped.signal.aborted ? undefined : revision;
    if (this.#progressRevision !== undefined)
      this.#progressTimer ??= this.#options.clock.setTimer(PROGRESS_MS, () => this.#repeatProgress());
    else {
      this.#progressTimer?.cancel();
      this.#progressTimer = undefined;
    }
  }

  #repeatProgress(): void {
    this.#progressTimer = undefined;
    this.#askProgress();
    this.#wantProgress(this.#progressRevision);
  }

  #askProgress(): void {
    if (this.#created && this.#progressRevision !== undefined) this.#stream?.send(encodeWatchProgress());
  }

  end(reason: WatchEnd): void {
    if (this.#stopped.signal.aborted) return;
    this.cancel();
    try {
      this.#sink.end(reason);
    } catch {
      // The watch has ended; the error has no receiver.
    }
  }

  #begin(): void {
    const { cluster } = this.#options;
    this.#fragments = [];
    this.#created = false;
    let connection: GrpcConnection | undefined;
    const opened = cluster.stream('etcdserverpb.Watch/Watch', {
      message: (bytes) => this.#call(() => this.#answer(decodeWatch(bytes, this.#options.space))),
      end: (error) => this.#broken(error, connection),
    });
    connection = opened.connection;
    this.#stream = opened.stream;
    opened.stream.send(encodeWatchCreate(this.#request()));
  }

  /**
   * A member that has compacted exactly the start revision would begin with the remains of it. Asked for the revision before, it reports
   * `compacted`. Future revisions are requested as they are.
   */
  #request(): Parameters<typeof encodeWatchCreate>[0] {
    const { start, end } = keyBounds(this.#watch, this.#options.space);
    const revision = this.#next > this.#options.knownRevision() ? this.#next : Math.max(1, this.#next - 1);
    const isAllKeys = start.length === 0;
    return {
      start: isAllKeys ? ZERO : start,
      end: isAllKeys ? ZERO : end,
      revision,
      progress: this.#watch.progress === true,
      prevValue: this.#watch.prevValue === true,
    };
  }

  /** Runs code that may call the sink: an error of the sink ends the watch. */
  #call(work: () => void): void {
    try {
      if (!this.#stopped.signal.aborted) work();
    } catch (error) {
      this.end({ code: 'failed', error });
    }
  }

  #answer(answer: WatchResponse): void {
    if (answer.compactRevision > 0) this.end({ code: 'compacted', compactRevision: answer.compactRevision });
    else if (answer.canceled) this.#canceled(answer.cancelReason);
    else if (answer.created) this.#onCreated();
    else this.#collect(answer);
  }

  /** A member that loses its leader cancels the watch (retried); every other cancel reason is final. */
  #canceled(reason: string): void {
    if (reason === '' || reason.includes('leader')) this.#restart();
    else this.end({ code: 'failed', error: new StoreError('unavailable', `etcd ended the watch: ${reason}`) });
  }

  #collect(answer: WatchResponse): void {
    this.#backoff.reset();
    pushAll(this.#fragments, answer.events);
    if (answer.fragment) return;
    const events = this.#fragments;
    this.#fragments = [];
    if (events.length > 0) this.#deliver(events);
    else this.#mark(answer.revision);
  }

  #onCreated(): void {
    this.#created = true;
    this.#askProgress();
  }

  #deliver(events: readonly ServerEvent[]): void {
    const batch = events.filter(({ entry }) => entry.modRevision >= this.#next).map(toWatchEvent);
    if (batch.length === 0) return;
    const revision = batch[batch.length - 1]!.modRevision;
    this.#next = revision + 1;
    this.#sink.events(batch, revision);
  }

  #mark(revision: number): void {
    if (revision < this.#next - 1) return;
    if (this.#progressRevision !== undefined && revision >= this.#progressRevision) this.#wantProgress(undefined);
    this.#next = revision + 1;
    this.#sink.progress(revision);
  }

  #broken(error: GrpcError | undefined, connection: GrpcConnection | undefined): void {
    const { cluster } = this.#options;
    if (this.#stopped.signal.aborted) return;
    if (cluster.closed) this.end({ code: 'closed' });
    else if (error !== undefined && !transient(error)) this.end({ code: 'failed', error: storeErrorOf(error, false) });
    else {
      if (connection !== undefined) cluster.leave(connection);
      this.#restart();
    }
  }

  #restart(): void {
    this.#stream?.cancel();
    const begin = () => {
      try {
        this.#begin();
      } catch (error) {
        this.end(error instanceof StoreError && error.code === 'closed' ? { code: 'closed' } : { code: 'failed', error });
      }
    };
    this.#options.clock.sleep(this.#backoff.next(), this.#stopped.signal).then(begin, () => {});
  }
}

const ZERO = Buffer.from([0]);

function toWatchEvent({ type, entry, previous }: ServerEvent): WatchEvent {
  const { key, value, modRevision, createRevision, version, lease } = entry;
  const values = { value: type === 'put' ? value : undefined, written: undefined, prevValue: previous?.value };
  return { type, key, ...values, modRevision, createRevision, version, lease };
}
