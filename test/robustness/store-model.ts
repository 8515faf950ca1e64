import type { Entry, Operation, RangeRequest, TxnRequest, WatchEvent } from '#store';

interface Version {
  readonly revision: number;
  readonly entry: Omit<Entry, 'lease'> | undefined;
}

/** The simplest possible store: a list of every version of every key. Engines are compared with it. */
export class StoreModel {
  readonly #versions = new Map<string, Version[]>();
  readonly #events: WatchEvent[] = [];
  #compacted = 0;
  revision: number;

  constructor(revision: number) {
    this.revision = revision;
  }

  get compactRevision(): number {
    return this.#compacted;
  }

  get events(): readonly WatchEvent[] {
    return this.#events;
  }

  get(key: string, revision = this.revision): Version['entry'] {
    return this.#versions.get(key)?.findLast((version) => version.revision <= revision)?.entry;
  }

  range({ prefix = '', start = '', end, revision = this.revision }: RangeRequest): Omit<Entry, 'lease'>[] {
    const entries: Omit<Entry, 'lease'>[] = [];
    for (const key of this.#versions.keys()) {
      const bytes = Buffer.from(key);
      const inside = key.startsWith(prefix) && Buffer.compare(bytes, Buffer.from(start)) >= 0;
      const entry = inside && (end === undefined || Buffer.compare(bytes, Buffer.from(end)) < 0) ? this.get(key, revision) : undefined;
      if (entry !== undefined) entries.push(entry);
    }
    return entries.sort((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)));
  }

  /** `revision`: from the engine's response, if it has other writers. */
  txn({ compare = [], write }: TxnRequest, revision = this.revision + 1): boolean {
    if (!compare.every(({ key, modRevision }) => (this.get(key)?.modRevision ?? 0) === modRevision)) return false;
    const changes = write.filter((operation) => operation.type === 'put' || this.get(operation.key) !== undefined);
    for (const change of changes) this.#apply(change, revision);
    if (changes.length > 0) this.revision = revision;
    return true;
  }

  #apply(operation: Operation, revision: number): void {
    const { key } = operation;
    const before = this.get(key);
    const entry =
      operation.type === 'delete'
        ? undefined
        : {
            key,
            value: operation.value as Uint8Array,
            createRevision: before?.createRevision ?? revision,
            modRevision: revision,
            version: (before?.version ?? 0) + 1,
          };
    const versions = this.#versions.get(key);
    if (versions === undefined) this.#versions.set(key, [{ revision, entry }]);
    else versions.push({ revision, entry });
    this.#events.push({
      type: operation.type,
      key,
      value: entry?.value,
      written: undefined,
      prevValue: before?.value,
      modRevision: revision,
      createRevision: entry?.createRevision ?? 0,
      version: entry?.version ?? 0,
      lease: undefined,
    });
  }

  compact(revision: number): boolean {
    if (revision <= this.#compacted) return false;
    this.#compacted = revision;
    return true;
  }
}
