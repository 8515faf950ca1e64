import { ERROR, Http2ConnectionError } from '../protocol.ts';
import { type HeaderField, headerField } from './header-field.ts';
import type { HuffmanCode } from './huffman-code.ts';
import { DEFAULT_TABLE_BYTES, ENTRY_OVERHEAD, STATIC_TABLE } from './static-table.ts';

/** What all decoders of a server share. */
export interface HpackTables {
  readonly huffman: HuffmanCode;
  readonly fields: readonly HeaderField[];
}

export function hpackTables(huffman: HuffmanCode): HpackTables {
  return { huffman, fields: STATIC_TABLE.map(([name, value]) => headerField(name, value)) };
}

const INDEXED = 0x80;
const WITH_INDEXING = 0x40;
const SIZE_UPDATE = 0x20;
/** The maximum length of an integer, in bytes. */
const MAX_INTEGER_BYTES = 4;
/** Evicted entries stay in the array until they are the majority. */
const COMPACT_FROM = 256;

/** Decodes the header blocks of one connection (RFC 7541). Every violation is a COMPRESSION_ERROR of the connection. */
export class HpackDecoder {
  /** The dynamic table, oldest entry first, after the evicted ones. */
  #entries: HeaderField[] = [];
  #evicted = 0;
  #size = 0;
  #maxSize = DEFAULT_TABLE_BYTES;
  #at = 0;
  #end = 0;
  #source: Buffer = Buffer.alloc(0);

  constructor(
    private readonly tables: HpackTables,
    /** The longest list of fields, each with the overhead of an entry. */
    private readonly maxListBytes: number,
  ) {}

  /** The fields of a block. Undefined if they exceed the limit; the table is up to date even so. */
  decode(source: Buffer, from: number, to: number): HeaderField[] | undefined {
    this.#source = source;
    this.#at = from;
    this.#end = to;
    this.#updateSize();
    const fields: HeaderField[] = [];
    let left = this.maxListBytes;
    while (this.#at < this.#end) {
      const field = this.#field();
      left -= field.name.length + field.value.length + ENTRY_OVERHEAD;
      if (left >= 0) fields.push(field);
    }
    return left < 0 ? undefined : fields;
  }

  /** The peer may change the size of its table at the beginning of a block only. */
  #updateSize(): void {
    while (this.#at < this.#end && (this.#source[this.#at]! & 0xe0) === SIZE_UPDATE) {
      const size = this.#integer(0x1f);
      if (size > DEFAULT_TABLE_BYTES) throw invalid('a header table larger than the limit');
      this.#maxSize = size;
      this.#evict();
    }
  }

  #field(): HeaderField {
    const first = this.#source[this.#at]!;
    if (first & INDEXED) return this.#entry(this.#integer(0x7f));
    if (first & WITH_INDEXING) return this.#add(this.#literal(0x3f));
    if (first & SIZE_UPDATE) throw invalid('a change of the header table within a block');
    return this.#literal(0x0f);
  }

  #literal(mask: number): HeaderField {
    const index = this.#integer(mask);
    const name = index === 0 ? this.#string() : this.#entry(index).name;
    return headerField(name, this.#string());
  }

  #entry(index: number): HeaderField {
    const { fields } = this.tables;
    if (index <= fields.length) {
      if (index === 0) throw invalid('header index 0');
      return fields[index - 1]!;
    }
    const position = this.#entries.length - (index - fields.length);
    if (position < this.#evicted) throw invalid('a header index beyond the table');
    return this.#entries[position]!;
  }

  #add(field: HeaderField): HeaderField {
    this.#entries.push(field);
    this.#size += sizeOf(field);
    this.#evict();
    return field;
  }

  #evict(): void {
    while (this.#size > this.#maxSize) this.#size -= sizeOf(this.#entries[this.#evicted++]!);
    if (this.#evicted < COMPACT_FROM) return;
    this.#entries = this.#entries.slice(this.#evicted);
    this.#evicted = 0;
  }

  #string(): string {
    if (this.#at >= this.#end) throw invalid('a header block that ends early');
    const isCoded = (this.#source[this.#at]! & 0x80) !== 0;
    const length = this.#integer(0x7f);
    const from = this.#at;
    const to = from + length;
    if (to > this.#end) throw invalid('a header block that ends early');
    this.#at = to;
    return isCoded ? this.tables.huffman.decode(this.#source, from, to) : this.#source.toString('latin1', from, to);
  }

  #integer(mask: number): number {
    const prefix = this.#source[this.#at++]! & mask;
    return prefix < mask ? prefix : this.#longInteger(mask);
  }

  #longInteger(prefix: number): number {
    let value = prefix;
    for (let i = 0; i < MAX_INTEGER_BYTES; i++) {
      if (this.#at >= this.#end) throw invalid('a header block that ends early');
      const byte = this.#source[this.#at++]!;
      value += (byte & 0x7f) << (7 * i);
      if (byte < 0x80) return value;
    }
    throw invalid('a header integer beyond the limit');
  }
}

function sizeOf({ name, value }: HeaderField): number {
  return name.length + value.length + ENTRY_OVERHEAD;
}

function invalid(what: string): Http2ConnectionError {
  return new Http2ConnectionError(ERROR.COMPRESSION_ERROR, what);
}
