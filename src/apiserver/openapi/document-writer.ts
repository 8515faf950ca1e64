import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, WireWriter } from '#machinery';

/** Writes a JSON member as a protobuf field. */
export type Carrier = (out: DocumentWriter, number: number, value: JsonValue) => void;

/** A message: fields by JSON name. Other members are vendor extensions. */
export interface MessageTable {
  readonly fields: Readonly<Record<string, readonly [number, Carrier]>>;
  /** The field number of vendor extensions; 0: none. */
  readonly extensions: number;
}

const BYTES = 2;
const VARINT = 0;
const FIXED64 = 1;

/** Writes OpenAPI documents as gnostic's protobuf messages, by field tables. */
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

  /** A map entry: its key, and field 2 written by `write`. */
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

export function encodeDocument(table: MessageTable, document: JsonObject): Buffer {
  const out = new DocumentWriter();
  out.message(table, document);
  return out.finish();
}

export const text: Carrier = (out, number, value) => out.string(number, value as string);
export const flag: Carrier = (out, number, value) => out.varint(number, value === true ? 1 : 0);
export const int: Carrier = (out, number, value) => out.varint(number, value as number);
export const double: Carrier = (out, number, value) => out.double(number, Number(value));
/** Readers parse it as YAML, a superset of JSON. */
export const any: Carrier = (out, number, value) => out.delimited(number, () => out.string(2, `${JSON.stringify(value)}\n`));

/** Repeated; a single value is a list of one. */
export function eachCarrier(carrier: Carrier): Carrier {
  return (out, number, value) => {
    for (const item of isJsonArray(value) ? value : [value]) carrier(out, number, item);
  };
}

export const texts: Carrier = eachCarrier(text);

/** `additionalProperties`: a schema, or whether there may be any. */
export function schemaOrFlag(schema: Carrier): Carrier {
  return (out, number, value) => out.delimited(number, () => (isJsonObject(value) ? schema(out, 1, value) : flag(out, 2, value)));
}

export function message(table: () => MessageTable): Carrier {
  return (out, number, value) => out.delimited(number, () => out.message(table(), value as JsonObject));
}

export const EXTERNAL_DOCS: MessageTable = { fields: { description: [1, text], url: [2, text] }, extensions: 3 };

/** Wrapped in a message, such as one alternative of a oneof. */
export function within(inner: number, carrier: Carrier): Carrier {
  return (out, number, value) => out.delimited(number, () => carrier(out, inner, value));
}

/** A map in its own message, with entries in the field `entries`. */
export function mapCarrier(carrier: Carrier, entries = 1): Carrier {
  return (out, number, value) =>
    out.delimited(number, () => {
      for (const [key, member] of Object.entries(value as JsonObject)) out.entry(entries, key, () => carrier(out, 2, member));
    });
}
