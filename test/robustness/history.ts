import type { Random } from '#base';
import { ABSENT, type Entry, type Operation, type Store, StoreError, type WatchEvent } from '#store';
import { isLinearizable, type RegisterInput, type RegisterOutput, registerModel, type Operation as Step } from './linearizability.ts';

/** A client's transaction. Every written value is unique. */
export interface AttemptedTxn {
  readonly writes: readonly { readonly key: string; readonly id: number }[];
  /** `refused`: certainly not written. `lost`: perhaps. */
  readonly outcome: 'written' | 'refused' | 'lost' | 'failed-comparison';
  /** Of written values. */
  readonly revision: number | undefined;
}

interface KeyStep extends Step<RegisterInput, RegisterOutput> {
  readonly key: string;
  /** The revision in the response. */
  readonly revision: number | undefined;
}

/** The clients' calls and responses, with their times. */
export interface History {
  readonly steps: readonly KeyStep[];
  readonly txns: readonly AttemptedTxn[];
}

export interface WorkloadOptions {
  readonly random: Random;
  readonly keys: readonly string[];
  readonly clients: number;
  /** Called before each operation. */
  goOn(done: number): boolean;
  /** Called between operations, to pause or to yield. */
  pause?(): Promise<void>;
}

export const idOf = (entry: Pick<Entry, 'value'> | undefined): number =>
  entry === undefined ? 0 : Number(Buffer.from(entry.value).toString());

/** Concurrent clients that read, write, compare and delete, on several views of one store. */
export async function runWorkload(stores: readonly Store[], options: WorkloadOptions): Promise<History> {
  const workload = new Workload(options);
  await Promise.all(Array.from({ length: options.clients }, (_, client) => workload.runClient(stores[client % stores.length]!)));
  return workload;
}

class Workload implements History {
  readonly steps: KeyStep[] = [];
  readonly txns: AttemptedTxn[] = [];
  readonly #options: WorkloadOptions;
  #lastId = 0;
  #done = 0;

  constructor(options: WorkloadOptions) {
    this.#options = options;
  }

  async runClient(store: Store): Promise<void> {
    const { random, keys } = this.#options;
    while (this.#options.goOn(this.#done++)) {
      const key = random.pick(keys);
      const kind = random.int(10);
      if (kind < 4) await this.#read(store, key);
      else if (kind < 8) await this.#swap(store, key);
      else if (kind < 9) await this.#write(store, { keys: [key, random.pick(keys)].filter((k, i, all) => all.indexOf(k) === i) });
      else await this.#write(store, { keys: [key], remove: true });
      await this.#options.pause?.();
    }
  }

  async #read(store: Store, key: string): Promise<Entry | undefined> {
    const call = performance.now();
    try {
      const { entry, revision } = await store.get(key);
      this.steps.push({ key, input: { kind: 'read' }, output: { seen: idOf(entry) }, call, return: performance.now(), revision });
      return entry;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      return undefined;
    }
  }

  /** Reads, and writes only if the value is unchanged. */
  async #swap(store: Store, key: string): Promise<void> {
    const entry = await this.#read(store, key);
    await this.#write(store, { keys: [key], expected: entry });
  }

  async #write(
    store: Store,
    plan: { readonly keys: readonly string[]; readonly remove?: boolean; readonly expected?: Entry | undefined },
  ): Promise<void> {
    const compared = 'expected' in plan;
    const writes = plan.keys.map((key) => ({ key, id: plan.remove === true ? 0 : ++this.#lastId }));
    const write = writes.map(
      ({ key, id }): Operation => (id === 0 ? { type: 'delete', key } : { type: 'put', key, value: Buffer.from(String(id)) }),
    );
    const compare = compared ? [{ key: plan.keys[0]!, modRevision: plan.expected?.modRevision ?? ABSENT }] : [];
    const call = performance.now();
    const inputs = writes.map(({ id }): RegisterInput => ({ kind: 'write', id, ...(compared ? { expected: idOf(plan.expected) } : {}) }));
    const note = (output: RegisterOutput | undefined, revision?: number) => {
      const end = output === undefined ? Number.POSITIVE_INFINITY : performance.now();
      for (const [i, { key }] of writes.entries()) this.steps.push({ key, input: inputs[i]!, output, call, return: end, revision });
    };
    try {
      const { succeeded, revision, reads } = await store.txn({ compare, write, ...(compared ? { elseRead: [plan.keys[0]!] } : {}) });
      note(succeeded ? { succeeded } : { succeeded, seen: idOf(reads[0]) }, revision);
      this.txns.push({ writes, outcome: succeeded ? 'written' : 'failed-comparison', revision: succeeded ? revision : undefined });
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      const lost = error.code === 'outcome-unknown';
      if (lost) note(undefined);
      this.txns.push({ writes, outcome: lost ? 'lost' : 'refused', revision: undefined });
    }
  }
}

/** The faults of the history: none when it is linearizable, and its revisions follow real time. */
export function historyFaults(history: History): string[] {
  const faults: string[] = [];
  for (const [key, steps] of byKeyOf(history.steps))
    if (!isLinearizable(registerModel, steps)) faults.push(`the history of ${key} is not linearizable`);
  return [...faults, ...revisionFaults(history.steps)];
}

function byKeyOf<T extends { readonly key: string }>(items: readonly T[]): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(item.key, [...(groups.get(item.key) ?? []), item]);
  return groups;
}

/** A response before a call cannot have a later revision than the call's. */
function revisionFaults(steps: readonly KeyStep[]): string[] {
  const acknowledged = steps.filter((step) => step.revision !== undefined);
  const byCall = acknowledged.toSorted((a, b) => a.call - b.call);
  const byReturn = acknowledged.toSorted((a, b) => a.return - b.return);
  const faults: string[] = [];
  let highest = 0;
  let at = 0;
  for (const step of byCall) {
    for (; at < byReturn.length && byReturn[at]!.return < step.call; at++) highest = Math.max(highest, byReturn[at]!.revision!);
    if (step.revision! < highest)
      faults.push(`${step.input.kind} of ${step.key} names revision ${step.revision} after ${highest} was named`);
  }
  return faults;
}

/** The events of one watch. */
export interface WatchedBatches {
  readonly fromRevision: number;
  readonly batches: readonly (readonly WatchEvent[])[];
}

/** The faults of the watches: none when they received the history of committed transactions. */
export function watchFaults(history: History, watches: readonly WatchedBatches[]): string[] {
  return [...watches.flatMap(orderFaults), ...agreementFaults(watches), ...contentFaults(history, watches)];
}

/** Revisions increase, and the events of one arrive in one batch. */
function orderFaults({ fromRevision, batches }: WatchedBatches): string[] {
  const faults: string[] = [];
  let last = fromRevision - 1;
  for (const batch of batches) {
    const revisions = batch.map(({ modRevision }) => modRevision);
    if (revisions[0]! <= last) faults.push(`revision ${revisions[0]} came after ${last}`);
    if (revisions.some((revision, i) => i > 0 && revision < revisions[i - 1]!)) faults.push(`a batch goes back: ${revisions.join(', ')}`);
    last = revisions.at(-1)!;
  }
  return faults;
}

const lineOf = ({ type, key, value, modRevision }: WatchEvent) =>
  `${type} ${key} ${value === undefined ? '' : Buffer.from(value).toString()} @${modRevision}`;

/** All watches received the same events, within their ranges. */
function agreementFaults(watches: readonly WatchedBatches[]): string[] {
  const all = watches.map(({ fromRevision, batches }) => ({ fromRevision, events: batches.flat() }));
  const longest = all.toSorted((a, b) => a.fromRevision - b.fromRevision)[0];
  return all.flatMap(({ fromRevision, events }) => {
    const expected = longest!.events.filter(({ modRevision }) => modRevision >= fromRevision).map(lineOf);
    const lines = events.map(lineOf);
    const at = expected.findIndex((line, i) => line !== lines[i]);
    if (at < 0 && lines.length === expected.length) return [];
    return [
      `a watch from ${fromRevision} differs at event ${at}: ${lines[at]} instead of ${expected[at]} (${lines.length} of ${expected.length})`,
    ];
  });
}

/** Every acknowledged write was delivered at its revision, and nothing was delivered that was never written, or was rejected. */
function contentFaults(history: History, watches: readonly WatchedBatches[]): string[] {
  const events = watches.flatMap(({ batches }) => batches.flat());
  const seen = new Set(events.map(lineOf));
  const from = Math.min(...watches.map(({ fromRevision }) => fromRevision));
  const faults: string[] = [];
  const possible = new Set<number>();
  for (const { writes, outcome, revision } of history.txns) {
    for (const { key, id } of writes) {
      if (outcome === 'written' || outcome === 'lost') possible.add(id);
      if (outcome !== 'written' || id === 0 || revision! < from) continue;
      if (!seen.has(`put ${key} ${id} @${revision}`)) faults.push(`the acknowledged write of ${id} to ${key} at ${revision} was not seen`);
    }
  }
  for (const { type, key, value, modRevision } of events) {
    const id = type === 'put' ? idOf({ value: value! }) : 0;
    if (id !== 0 && !possible.has(id)) faults.push(`${key} was seen with ${id} at ${modRevision}, which was not written`);
  }
  return [...new Set(faults)];
}

/** The faults of reads, compared with a watch from the beginning: a read at a revision returns the last change up to it. */
export function readFaults(history: History, watch: WatchedBatches): string[] {
  const changes = byKeyOf(watch.batches.flat());
  const faults: string[] = [];
  for (const { key, input, output, revision } of history.steps) {
    if (input.kind !== 'read' || output === undefined) continue;
    const last = changes.get(key)?.findLast(({ modRevision }) => modRevision <= revision!);
    const expected = last?.type === 'put' ? idOf({ value: last.value! }) : 0;
    if (output.seen !== expected) faults.push(`a read of ${key} at ${revision} saw ${output.seen}, not ${expected}`);
  }
  return faults;
}
