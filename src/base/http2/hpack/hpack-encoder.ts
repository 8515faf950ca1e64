import type { OutputBuffer } from '../output-buffer.ts';
import { DEFAULT_TABLE_BYTES, ENTRY_OVERHEAD, STATIC_TABLE } from './static-table.ts';

/** The static table by name: the first index of the name, and the index of each value. */
interface StaticName {
  readonly index: number;
  readonly values: ReadonlyMap<string, number>;
}

/** What all encoders of a server share. */
export interface EncoderTables {
  readonly names: ReadonlyMap<string, StaticName>;
  /** Names of fields whose values recur: these are put into the table of the connection. */
  readonly recurring: ReadonlySet<string>;
}

export function encoderTables(recurring: readonly string[]): EncoderTables {
  const names = new Map<string, { index: number; values: Map<string, number> }>();
  for (const [i, [name, value]] of STATIC_TABLE.entries()) {
    const entry = names.get(name) ?? { index: i + 1, values: new Map() };
    if (value !== '') entry.values.set(value, i + 1);
    names.set(name, entry);
  }
  return { names, recurring: new Set(recurring) };
}

const INDEXED = 0x80;
const WITH_INDEXING = 0x40;
const SIZE_UPDATE = 0x20;
/** The longest integer that we write. */
const INTEGER_BYTES = 6;

interface Entry {
  readonly name: string;
  readonly value: string;
}

/** Encodes the header blocks of one connection. Strings are not Huffman-coded: most are sent once, then by index. */
export class HpackEncoder {
  readonly #tables: EncoderTables;
  /** Of the dynamic table: the number of each entry in the order of insertion, by name and value. */
  readonly #numbers = new Map<string, Map<string, number>>();
  #entries: Entry[] = [];
  #evicted = 0;
  #inserted = 0;
  #size = 0;
  #maxSize = DEFAULT_TABLE_BYTES;
  #announcedSize = DEFAULT_TABLE_BYTES;
  /** Since the last announcement. */
  #smallestSize = DEFAULT_TABLE_BYTES;

  constructor(tables: EncoderTables) {
    this.#tables = tables;
  }

  /** As the peer's settings limit it. It learns of a change with the next block. */
  limitTable(bytes: number): void {
    this.#maxSize = Math.min(bytes, DEFAULT_TABLE_BYTES);
    this.#smallestSize = Math.min(this.#smallestSize, this.#maxSize);
    this.#evict();
  }

  /** To be called before the first field of a block. */
  begin(out: OutputBuffer): void {
    if (this.#announcedSize === this.#maxSize && this.#smallestSize === this.#maxSize) return;
    out.reserve(2 * INTEGER_BYTES);
    if (this.#smallestSize < this.#maxSize) out.prefixed(this.#smallestSize, 0x1f, SIZE_UPDATE);
    out.prefixed(this.#maxSize, 0x1f, SIZE_UPDATE);
    this.#announcedSize = this.#maxSize;
    this.#smallestSize = this.#maxSize;
  }

  field(out: OutputBuffer, name: string, value: string): void {
    out.reserve(name.length + value.length + 3 * INTEGER_BYTES);
    const staticName = this.#tables.names.get(name);
    const index = staticName?.values.get(value) ?? this.#indexOf(name, value);
    if (index !== undefined) out.prefixed(index, 0x7f, INDEXED);
    else this.#literal(out, { name, value, nameIndex: staticName?.index ?? 0 });
  }

  #literal(out: OutputBuffer, { name, value, nameIndex }: Entry & { readonly nameIndex: number }): void {
    const isRecurring = this.#tables.recurring.has(name) && this.#fits(name, value);
    if (isRecurring) out.prefixed(nameIndex, 0x3f, WITH_INDEXING);
    else out.prefixed(nameIndex, 0x0f, 0);
    if (nameIndex === 0) writeString(out, name);
    writeString(out, value);
    if (isRecurring) this.#add({ name, value });
  }

  #indexOf(name: string, value: string): number | undefined {
    const number = this.#numbers.get(name)?.get(value);
    return number === undefined ? undefined : STATIC_TABLE.length + this.#inserted - number;
  }

  #fits(name: string, value: string): boolean {
    return 4 * (name.length + value.length + ENTRY_OVERHEAD) <= this.#maxSize;
  }

  #add(entry: Entry): void {
    let values = this.#numbers.get(entry.name);
    if (values === undefined) {
      values = new Map();
      this.#numbers.set(entry.name, values);
    }
    values.set(entry.value, this.#inserted++);
    this.#entries.push(entry);
    this.#size += entry.name.length + entry.value.length + ENTRY_OVERHEAD;
    this.#evict();
  }

  #evict(): void {
    while (this.#size > this.#maxSize) {
      const { name, value } = this.#entries[this.#evicted++]!;
      this.#size -= name.length + value.length + ENTRY_OVERHEAD;
      this.#numbers.get(name)?.delete(value);
    }
    if (this.#evicted < 64) return;
    this.#entries = this.#entries.slice(this.#evicted);
    this.#evicted = 0;
  }
}

const TAB = 0x09;
const SPACE = 0x20;

/** Each character is one byte; control characters, which no field may have, become spaces. */
function writeString(out: OutputBuffer, text: string): void {
  out.prefixed(text.length, 0x7f, 0);
  const { bytes } = out;
  let at = out.length;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    bytes[at++] = code < SPACE && code !== TAB ? SPACE : code;
  }
  out.length = at;
}
