import type { Clock, TimerHandle } from '#base';
import { checkWatch } from './limits.ts';
import type { WatchEnd, WatchEvent, WatchHandle, WatchOptions, WatchSink } from './store.ts';

/** A committed change; `previous` lets the engine find the previous value. */
export interface Change<P> {
  readonly event: WatchEvent;
  readonly previous: P;
}

/** The engine, as the hub needs it. */
export interface HubSource<P> {
  readonly clock: Clock;
  /** The last revision whose changes were published, and the first one that history holds in full minus one. */
  revision(): number;
  compactRevision(): number;
  /** Changes of whole transactions from `revision` on, in order, at least one when there is one; about `atMost`, and up to which revision. */
  history(revision: number, atMost: number): HistoryChunk<P>;
  readPrevious(previous: P): Uint8Array | undefined;
}

export interface HistoryChunk<P> {
  readonly changes: readonly Change<P>[];
  /** Everything up to and including this revision is in `changes`. */
  readonly throughRevision: number;
}

/** Changes of history that a watch reads before it yields. */
const CATCH_UP_CHANGES = 1_000;
const PROGRESS_INTERVAL_MS = 5_000;
const MAX_DIRECTORIES = 10_000;

/**
 * Distributes committed changes to watchers inside the process. Watchers of one prefix share a group, whose batch is created once: each
 * further watcher costs one call per event and no allocation.
 */
export class WatchHub<P> {
  readonly #source: HubSource<P>;
  readonly #groups = new Map<string, Group<P>>();
  /** The groups that watch a directory, a part of it or a parent of it; cleared when groups are added or removed. */
  readonly #byDirectory = new Map<string, readonly Group<P>[]>();
  readonly #catchingUp = new Set<Watcher>();
  readonly #queue: Publication<P>[] = [];
  #publishing = false;
  #progressTimer: TimerHandle | undefined;

  constructor(source: HubSource<P>) {
    this.#source = source;
  }

  watch(options: WatchOptions, sink: WatchSink): WatchHandle {
    checkWatch(options);
    const next = options.fromRevision ?? this.#source.revision() + 1;
    const watcher: Watcher = { options, sink, next, active: true, progressRequested: false };
    if (next > this.#source.revision()) this.#join(watcher);
    else {
      this.#catchingUp.add(watcher);
      this.#catchUpSoon(watcher);
    }
    if (options.progress === true) this.#startProgress();
    return this.#handle(watcher);
  }

  /** Delivers the changes of whole transactions. Order is preserved even if a sink writes while it is called. */
  publish(changes: readonly Change<P>[], revision: number): void {
    this.#queue.push({ changes, revision });
    if (!this.#publishing) this.#drain(() => {});
  }

  /** Runs `first`, then delivers the changes that sinks caused meanwhile: sinks are never re-entered. */
  #drain(first: () => void): void {
    this.#publishing = true;
    first();
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) this.#deliver(next);
    this.#publishing = false;
  }

  close(): void {
    this.#progressTimer?.cancel();
    this.#progressTimer = undefined;
    for (const watcher of this.#watchers()) this.#end(watcher, { code: 'closed' });
  }

  *#watchers(): Iterable<Watcher> {
    for (const group of [...this.#groups.values()]) yield* [...group.watchers];
    yield* [...this.#catchingUp];
  }

  #deliver({ changes, revision }: Publication<P>): void {
    for (const group of this.#matchingGroups(changes)) {
      const batch = group.select(changes);
      if (batch.length === 0) continue;
      for (const watcher of group.watchers) this.#deliverTo(watcher, batch, revision);
    }
  }

  /** The groups that may match the changes. Most batches concern one directory, which few groups watch. */
  #matchingGroups(changes: readonly Change<P>[]): Iterable<Group<P>> {
    const directory = directoryOf(changes[0]!.event.key);
    for (let i = 1; i < changes.length; i++) if (!changes[i]!.event.key.startsWith(directory)) return this.#groups.values();
    let groups = this.#byDirectory.get(directory);
    if (groups === undefined) {
      groups = [...this.#groups.values()].filter((group) => group.concerns(directory));
      if (this.#byDirectory.size >= MAX_DIRECTORIES) this.#byDirectory.clear();
      this.#byDirectory.set(directory, groups);
    }
    return groups;
  }

  /** Delivers the part of the batch that the sink has not seen. */
  #deliverTo(watcher: Watcher, batch: readonly WatchEvent[], revision: number): void {
    if (!watcher.active || watcher.next > revision) return;
    const newEvents = batch[0]!.modRevision >= watcher.next ? batch : batch.filter((event) => event.modRevision >= watcher.next);
    watcher.next = revision + 1;
    if (newEvents.length === 0) return;
    this.#call(watcher, () => watcher.sink.events(newEvents, newEvents[newEvents.length - 1]!.modRevision));
  }

  #call(watcher: Watcher, call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#end(watcher, { code: 'failed', error });
    }
  }

  #end(watcher: Watcher, reason: WatchEnd): void {
    if (!watcher.active) return;
    this.#remove(watcher);
    try {
      watcher.sink.end(reason);
    } catch {
      // The watch has ended; the error has no receiver.
    }
  }

  #remove(watcher: Watcher): void {
    watcher.active = false;
    this.#catchingUp.delete(watcher);
    const name = groupName(watcher.options);
    const group = this.#groups.get(name);
    if (group?.watchers.delete(watcher) === true && group.watchers.size === 0) {
      this.#groups.delete(name);
      this.#byDirectory.clear();
    }
  }

  #join(watcher: Watcher): void {
    const name = groupName(watcher.options);
    let group = this.#groups.get(name);
    if (group === undefined) {
      group = new Group(watcher.options, this.#source);
      this.#groups.set(name, group);
      this.#byDirectory.clear();
    }
    group.watchers.add(watcher);
  }

  #catchUpSoon(watcher: Watcher): void {
    setImmediate(() => {
      if (watcher.active) this.#call(watcher, () => this.#catchUp(watcher));
    });
  }

  #catchUp(watcher: Watcher): void {
    const compactRevision = this.#source.compactRevision();
    if (watcher.next <= compactRevision) {
      this.#end(watcher, { code: 'compacted', compactRevision });
      return;
    }
    const { changes, throughRevision } = this.#source.history(watcher.next, CATCH_UP_CHANGES);
    const batch = new Group(watcher.options, this.#source).select(changes);
    const live = throughRevision >= this.#source.revision();
    this.#drain(() => {
      if (batch.length > 0) this.#deliverTo(watcher, batch, throughRevision);
      watcher.next = throughRevision + 1;
      if (live && watcher.active) this.#goLive(watcher);
    });
    if (!live) this.#catchUpSoon(watcher);
    else if (watcher.progressRequested || watcher.options.progress === true) this.#mark(watcher);
  }

  #goLive(watcher: Watcher): void {
    this.#catchingUp.delete(watcher);
    this.#join(watcher);
  }

  #mark(watcher: Watcher): void {
    watcher.progressRequested = false;
    if (watcher.active) this.#call(watcher, () => watcher.sink.progress(Math.max(watcher.next - 1, this.#source.revision())));
  }

  #handle(watcher: Watcher): WatchHandle {
    const cancel = () => this.#remove(watcher);
    return {
      cancel,
      [Symbol.dispose]: cancel,
      requestProgress: () => {
        watcher.progressRequested = true;
        queueMicrotask(() => {
          if (watcher.progressRequested && !this.#catchingUp.has(watcher)) this.#mark(watcher);
        });
        return true;
      },
    };
  }

  #startProgress(): void {
    this.#progressTimer ??= this.#source.clock.setTimer(PROGRESS_INTERVAL_MS, () => {
      this.#progressTimer = undefined;
      let isNeeded = false;
      for (const watcher of this.#watchers()) {
        if (watcher.options.progress !== true) continue;
        isNeeded = true;
        if (!this.#catchingUp.has(watcher)) this.#mark(watcher);
      }
      if (isNeeded) this.#startProgress();
    });
  }
}

interface Publication<P> {
  readonly changes: readonly Change<P>[];
  readonly revision: number;
}

interface Watcher {
  readonly options: WatchOptions;
  readonly sink: WatchSink;
  /** The first revision not delivered yet. */
  next: number;
  active: boolean;
  progressRequested: boolean;
}

function groupName(options: WatchOptions): string {
  return `${options.prevValue === true ? 'with' : 'without'} ${options.prefix ?? ''}`;
}

/** The watchers of one prefix. */
class Group<P> {
  readonly watchers = new Set<Watcher>();
  readonly #prefix: string;
  readonly #withPrevious: boolean;
  readonly #source: HubSource<P>;

  constructor(options: WatchOptions, source: HubSource<P>) {
    this.#prefix = options.prefix ?? '';
    this.#withPrevious = options.prevValue === true;
    this.#source = source;
  }

  /** Whether the group can match a key in this directory. */
  concerns(directory: string): boolean {
    return directory.startsWith(this.#prefix) || this.#prefix.startsWith(directory);
  }

  select(changes: readonly Change<P>[]): readonly WatchEvent[] {
    const batch: WatchEvent[] = [];
    for (const change of changes) {
      if (change.event.key.startsWith(this.#prefix)) batch.push(this.#withPrevious ? this.#previousAdded(change) : change.event);
    }
    return batch;
  }

  #previousAdded({ event, previous }: Change<P>): WatchEvent {
    const prevValue = this.#source.readPrevious(previous);
    if (prevValue === undefined) return event;
    const { type, key, value, written, modRevision, createRevision, version, lease } = event;
    return { type, key, value, written, prevValue, modRevision, createRevision, version, lease };
  }
}

/** `/registry/pods/` of `/registry/pods/default/web-1`: the first two steps. A key without them is its own directory. */
function directoryOf(key: string): string {
  const first = key.indexOf('/', 1);
  const second = first < 0 ? -1 : key.indexOf('/', first + 1);
  return second < 0 ? key : key.slice(0, second + 1);
}
