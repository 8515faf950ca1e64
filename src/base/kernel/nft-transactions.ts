/** An element of an nftables map or set. */
export interface NftElement {
  readonly set: string;
  readonly key: string;
  /** Absent for sets. */
  readonly value?: string;
}

/** A chain or set that elements depend on. Its name identifies its content, so it never changes. */
export interface NftObject {
  readonly kind: 'chain' | 'set';
  readonly name: string;
  /** The rules of a chain, or the definition of a set. */
  readonly content: readonly string[];
}

export interface NftContent {
  readonly elements: readonly NftElement[];
  /** Dependencies first. */
  readonly objects: readonly NftObject[];
}

interface RefCounted<T> {
  readonly item: T;
  count: number;
}

const NOTHING: NftContent = { elements: [], objects: [] };
const ELEMENTS_A_COMMAND = 1000;

/**
 * The changing part of an nftables table: the union of several contributors' elements. Computes transactions whose size is that of the
 * change.
 */
export class NftTransactions {
  readonly #elements = new Map<string, RefCounted<NftElement>>();
  readonly #objects = new Map<string, RefCounted<NftObject>>();
  /** Entries changed since the last script, with their previous state. */
  readonly #touchedElements = new Map<string, NftElement | undefined>();
  readonly #touchedObjects = new Map<string, NftObject | undefined>();

  /** With its family, as in commands. */
  constructor(private readonly table: string) {}

  /** Replaces a contributor's `before` by `after`. */
  replace(before: NftContent = NOTHING, after: NftContent = NOTHING): void {
    this.#count(before, -1);
    this.#count(after, 1);
  }

  #count({ elements, objects }: NftContent, by: 1 | -1): void {
    for (const item of elements) count(this.#elements, { key: `${item.set} ${item.key}`, item, by }, this.#touchedElements);
    for (const item of objects) count(this.#objects, { key: item.name, item, by }, this.#touchedObjects);
  }

  /** The script since the last one; empty if nothing changed. */
  takeScript(): string {
    const removed: NftElement[] = [];
    const added: NftElement[] = [];
    for (const [key, before] of this.#touchedElements) {
      const after = this.#elements.get(key)?.item;
      if (before !== undefined && after !== undefined && before.value === after.value) continue;
      if (before !== undefined) removed.push(before);
      if (after !== undefined) added.push(after);
    }
    const deletedObjects = [...this.#touchedObjects]
      .filter(([name, before]) => before !== undefined && !this.#objects.has(name))
      .map(([, before]) => before!);
    const fresh = [...this.#touchedObjects]
      .filter(([name, before]) => before === undefined && this.#objects.has(name))
      .map(([name]) => this.#objects.get(name)!.item);
    this.#touchedElements.clear();
    this.#touchedObjects.clear();
    return this.#script({ removed, added, deletedObjects, fresh });
  }

  /** The full content, for an empty table. */
  fullScript(): string {
    const added = [...this.#elements.values()].map(({ item }) => item);
    const fresh = [...this.#objects.values()].map(({ item }) => item);
    return this.#script({ removed: [], added, deletedObjects: [], fresh });
  }

  #script({
    removed,
    added,
    deletedObjects,
    fresh,
  }: {
    removed: NftElement[];
    added: NftElement[];
    deletedObjects: NftObject[];
    fresh: NftObject[];
  }): string {
    const { table } = this;
    return [
      ...fresh.map(({ kind, name, content }) => `add ${kind} ${table} ${name}${kind === 'set' ? ` { ${content.join(' ')} }` : ''}`),
      ...fresh.filter(isChain).flatMap(({ name, content }) => content.map((rule) => `add rule ${table} ${name} ${rule}`)),
      ...elementCommands('delete', table, removed),
      ...elementCommands('add', table, added),
      // Chains may refer to each other, and to sets.
      ...deletedObjects.filter(isChain).map(({ name }) => `flush chain ${table} ${name}`),
      ...deletedObjects.filter(isChain).map(({ name }) => `delete chain ${table} ${name}`),
      ...deletedObjects.filter((object) => !isChain(object)).map(({ name }) => `delete set ${table} ${name}`),
    ]
      .map((line) => `${line}\n`)
      .join('');
  }

  /** The content in a canonical form. */
  describe(): readonly string[] {
    const elements = [...this.#elements.values()].map(({ item }) => `${item.set} { ${text(item)} }`);
    const objects = [...this.#objects.values()].map(({ item }) => `${item.kind} ${item.name} { ${item.content.join('; ')} }`);
    return [...objects.sort(), ...elements.sort()];
  }
}

function count<T>(
  into: Map<string, RefCounted<T>>,
  { key, item, by }: { key: string; item: T; by: 1 | -1 },
  touched: Map<string, T | undefined>,
): void {
  const before = into.get(key);
  if (!touched.has(key)) touched.set(key, before?.item);
  const next = (before?.count ?? 0) + by;
  if (next <= 0) into.delete(key);
  else if (by === 1 || before === undefined) into.set(key, { item, count: next });
  else before.count = next;
}

function isChain({ kind }: NftObject): boolean {
  return kind === 'chain';
}

function text({ key, value }: NftElement): string {
  return value === undefined ? key : `${key} : ${value}`;
}

function elementCommands(verb: 'add' | 'delete', table: string, elements: readonly NftElement[]): readonly string[] {
  const bySet = new Map<string, NftElement[]>();
  for (const element of elements) {
    const group = bySet.get(element.set);
    if (group === undefined) bySet.set(element.set, [element]);
    else group.push(element);
  }
  const commands: string[] = [];
  for (const [name, items] of bySet) {
    for (let start = 0; start < items.length; start += ELEMENTS_A_COMMAND) {
      const commandItems = items.slice(start, start + ELEMENTS_A_COMMAND).map((element) => (verb === 'add' ? text(element) : element.key));
      commands.push(`${verb} element ${table} ${name} { ${commandItems.join(', ')} }`);
    }
  }
  return commands;
}
