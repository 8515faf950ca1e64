import { expect } from 'vitest';
import { realClock } from '#base';
import type { Entry, Operation, Page, Put, RangeRequest, Store, WatchEnd, WatchEvent, WatchOptions } from '../store.ts';

/** An engine under test. */
export interface ContractEngine {
  readonly name: string;
  /** A store without keys, to which only the test writes. */
  open(): Promise<Store>;
  /** Opens what `store` wrote to `file`. */
  restore(file: string, store: Store): Promise<Store>;
  /** Lets time go by, as leases see it. */
  passTime(milliseconds: number): Promise<void>;
}

export const bytes = (text: string): Buffer => Buffer.from(text);
export const text = (value: Uint8Array | undefined): string | undefined => value && Buffer.from(value).toString();
export const put = (key: string, value = 'value', overrides: Partial<Put> = {}): Put => ({
  type: 'put',
  key,
  value: bytes(value),
  ...overrides,
});
export const remove = (key: string): Operation => ({ type: 'delete', key });

/** Writes each operation as a transaction of its own; returns the last revision. */
export async function write(store: Store, ...operations: readonly Operation[]): Promise<number> {
  let revision = await store.revision();
  for (const operation of operations) revision = (await store.txn({ write: [operation] })).revision;
  return revision;
}

export async function page(store: Store, request: RangeRequest): Promise<Page> {
  const result = await store.range(request);
  if (result.status !== 'ok') throw new Error(`expected a page, got compacted at ${result.compactRevision}`);
  return result;
}

export function keysOf({ entries }: { readonly entries: readonly Entry[] }): string[] {
  return entries.map((entry) => entry.key);
}

/** What the sink of a watch was called with. */
export interface WatchRecord extends Disposable {
  readonly events: WatchEvent[];
  readonly batches: (readonly WatchEvent[])[];
  readonly marks: number[];
  readonly ends: WatchEnd[];
  requestProgress(): boolean;
  cancel(): void;
}

export function record(store: Store, options: WatchOptions): WatchRecord {
  const events: WatchEvent[] = [];
  const batches: (readonly WatchEvent[])[] = [];
  const marks: number[] = [];
  const ends: WatchEnd[] = [];
  const handle = store.watch(options, {
    events(batch, revision) {
      expect(revision).toBe(batch[batch.length - 1]?.modRevision);
      events.push(...batch);
      batches.push(batch);
    },
    progress: (revision) => void marks.push(revision),
    end: (reason) => void ends.push(reason),
  });
  const cancel = () => handle.cancel();
  return { events, batches, marks, ends, cancel, requestProgress: () => handle.requestProgress(), [Symbol.dispose]: cancel };
}

/** Waits until `condition` holds. */
export async function until(condition: () => boolean | Promise<boolean>, description: string): Promise<void> {
  const deadline = realClock.monotonic() + 20_000;
  while (!(await condition())) {
    if (realClock.monotonic() > deadline) throw new Error(`waited in vain until ${description}`);
    await realClock.sleep(2);
  }
}

/** Short forms of events, to compare with. */
export function lines(events: readonly WatchEvent[]): string[] {
  return events.map((event) => {
    const value = event.type === 'put' ? ` ${text(event.value)}` : '';
    return `${event.type} ${event.key}${value} @${event.modRevision}`;
  });
}
