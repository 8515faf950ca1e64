import type { Store, WatchEnd, WatchEvent } from '#store';
import type { WatchedBatches } from './history.ts';

/** A watch that keeps all events. */
export interface Recorder extends WatchedBatches {
  readonly ends: readonly WatchEnd[];
  /** The last revision delivered. */
  readonly lastRevision: number;
  stop(): void;
}

export function recordWatch(store: Store, fromRevision: number): Recorder {
  const batches: (readonly WatchEvent[])[] = [];
  const ends: WatchEnd[] = [];
  let lastRevision = 0;
  const handle = store.watch(
    { prefix: '/', fromRevision },
    {
      events(batch, revision) {
        batches.push(batch);
        lastRevision = revision;
      },
      progress() {},
      end: (reason) => void ends.push(reason),
    },
  );
  return {
    fromRevision,
    batches,
    ends,
    get lastRevision() {
      return lastRevision;
    },
    stop: () => handle.cancel(),
  };
}

/** Waits until every watch has delivered `revision`; names those that have not. */
export async function caughtUp(recorders: readonly Recorder[], revision: number, patienceMs: number): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (recorders.some(({ lastRevision }) => lastRevision < revision)) {
    if (performance.now() > deadline) {
      throw new Error(
        `watches are at ${recorders.map((recorder) => `${recorder.lastRevision} ${JSON.stringify(recorder.ends)}`).join(', ')}, not at ${revision}`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
