import { isJsonArray, type JsonObject, type JsonValue, WireWriter } from '#machinery';

/** Writes a member of a JSON document as the field of that number. */
export type Carrier = (out: DocumentWriter, number: number, value: JsonValue) => void;

/** A message: its fields by their name in JSON. What it does not name is a vendor extension, or is not in our documents. */
export interface MessageTable {
  readonly fields: Readonly<Record<string, readonly [number, Carrier]>>;
  /** The number of its vendor extensions, 0 when it has none. */
  readonly extensions: number;
}

const BYTES = 2;
const VARINT = 0;
const FIXED64 = 1;

/** Writes OpenAPI documents as the protobuf messages of gnostic, by tables of their fields. */
export class DocumentWriter {
  private readonly writer = new WireWriter();

  finish(): Buffer {
    return this.writer.finish();
  }

  message(table: MessageTable, object: JsonObject): void {
    for (const [key, value] of Object.entries(object)) {
      const field = table.fields[key];
      if (field !== undefined) field[1](this, field[0], value);
      else if (key.startsWith('x-') && table.extensions > 0) this.entry(table.extensions, key, () => any(this, 2, value));
    }
  }

  /** An entry of a map: its key, and what `write` puts into field 2. */
  entry(number: number, key: string, write: () => void): void {
    this.delimited(number, () => {
      this.string(1, key);
      write();
    });
  }

  delimited(number: number, write: () => void): void {
    this.writer.varint((number << 3) | BYTES);
    const at = this.writer.begin();
    write();
    this.writer.end(at);
  }

  string(number: number, value: string): void {
    this.writer.varint((number << 3) | BYTES);
    this.writer.string(value);
  }

  varint(number: number, value: number): void {
    this.writer.varint((number << 3) | VARINT);
    this.writer.int64(value);
  }

  double(number: number, value: number): void {
    this.writer.varint((number << 3) | FIXED64);
    this.writer.double(value);
  }
}

export const text: Carrier = (out, number, value) => out.string(number, value as string);
export const flag: Carrier = (out, number, value) => out.varint(number, value === true ? 1 : 0);
export const int: Carrier = (out, number, value) => out.varint(number, value as number);
export const double: Carrier = (out, number, value) => out.double(number, Number(value));
/** Readers parse it as YAML, of which JSON is a part. */
export const any: Carrier = (out, number, value) => out.delimited(number, () => out.string(2, `${JSON.stringify(value)}\n`));

/** Once for each item of a list; a single value is a list of one. */
export function each(carrier: Carrier): Carrier {
  return (out, number, value) => {
    for (const item of isJsonArray(value) ? value : [value]) carrier(out, number, item);
  };
}

export const texts: Carrier = each(text);

export function message(table: () => MessageTable): Carrier {
  return (out, number, value) => out.delimited(number, () => out.message(table(), value as JsonObject));
}

/** In a message whose only content it is: the one of several alternatives, say. */
export function within(inner: number, carrier: Carrier): Carrier {
  return (out, number, value) => out.delimited(number, () => carrier(out, inner, value));
}

/** A map in a message of its own, its entries in that message's field `entries`. */
export function named(carrier: Carrier, entries = 1): Carrier {
  return (out, number, value) =>
    out.delimited(number, () => {
      for (const [key, member] of Object.entries(value as JsonObject)) out.entry(entries, key, () => carrier(out, 2, member));
    });
}
