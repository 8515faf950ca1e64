import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, WireWriter } from '#machinery';

/**
 * Encodes an OpenAPI v2 document as the protobuf message that kubectl before 1.27 asks for (gnostic's openapi_v2.Document). Each table
 * below names a message's fields with their numbers; what a table does not know is a vendor extension, or is not in our documents.
 */
export function encodeDocumentV2(document: JsonObject): Buffer {
  const encoder = new DocumentEncoder();
  encoder.message(DOCUMENT, document);
  return encoder.writer.finish();
}

/** How a member of the JSON document is carried. */
type Carrier =
  | {
      readonly as:
        | 'string'
        | 'bool'
        | 'int'
        | 'double'
        | 'strings'
        | 'any'
        | 'types'
        | 'parameters'
        | 'items'
        | 'additional'
        | 'response-schema';
    }
  | { readonly as: 'message'; readonly of: () => MessageTable }
  /** A map in a message of its own: `Definitions`, `Properties`. */
  | { readonly as: 'named'; readonly of: () => MessageTable; readonly entries: number };

interface MessageTable {
  readonly fields: Readonly<Record<string, readonly [number, Carrier]>>;
  /** The number of its vendor extensions, 0 when it has none. */
  readonly extensions: number;
}

const text: Carrier = { as: 'string' };
const flag: Carrier = { as: 'bool' };
const int: Carrier = { as: 'int' };
const double: Carrier = { as: 'double' };
const texts: Carrier = { as: 'strings' };
const message = (of: () => MessageTable): Carrier => ({ as: 'message', of });
const named = (of: () => MessageTable, entries = 1): Carrier => ({ as: 'named', of, entries });

const INFO: MessageTable = { fields: { title: [1, text], version: [2, text], description: [3, text] }, extensions: 7 };

const SCHEMA: MessageTable = {
  fields: {
    $ref: [1, text],
    format: [2, text],
    title: [3, text],
    description: [4, text],
    default: [5, { as: 'any' }],
    multipleOf: [6, double],
    maximum: [7, double],
    exclusiveMaximum: [8, flag],
    minimum: [9, double],
    exclusiveMinimum: [10, flag],
    maxLength: [11, int],
    minLength: [12, int],
    pattern: [13, text],
    maxItems: [14, int],
    minItems: [15, int],
    uniqueItems: [16, flag],
    maxProperties: [17, int],
    minProperties: [18, int],
    required: [19, texts],
    enum: [20, { as: 'any' }],
    additionalProperties: [21, { as: 'additional' }],
    type: [22, { as: 'types' }],
    items: [23, { as: 'items' }],
    properties: [25, named(() => SCHEMA)],
  },
  extensions: 31,
};

const PARAMETER_FIELDS = { required: [1, flag], in: [2, text], description: [3, text], name: [4, text] } as const;
const QUERY_PARAMETER: MessageTable = {
  fields: { ...PARAMETER_FIELDS, type: [6, text], format: [7, text], uniqueItems: [20, flag] },
  extensions: 23,
};
const PATH_PARAMETER: MessageTable = {
  fields: { ...PARAMETER_FIELDS, type: [5, text], format: [6, text], uniqueItems: [19, flag] },
  extensions: 22,
};
const BODY_PARAMETER: MessageTable = {
  fields: { description: [1, text], name: [2, text], in: [3, text], required: [4, flag], schema: [5, message(() => SCHEMA)] },
  extensions: 6,
};

const RESPONSE: MessageTable = { fields: { description: [1, text], schema: [2, { as: 'response-schema' }] }, extensions: 5 };
const RESPONSE_VALUE: MessageTable = { fields: { response: [1, message(() => RESPONSE)] }, extensions: 0 };

const OPERATION: MessageTable = {
  fields: {
    tags: [1, texts],
    description: [3, text],
    operationId: [5, text],
    produces: [6, texts],
    consumes: [7, texts],
    parameters: [8, { as: 'parameters' }],
    responses: [9, named(() => RESPONSE_VALUE)],
    schemes: [10, texts],
    deprecated: [11, flag],
  },
  extensions: 13,
};

const PATH_ITEM: MessageTable = {
  fields: {
    get: [2, message(() => OPERATION)],
    put: [3, message(() => OPERATION)],
    post: [4, message(() => OPERATION)],
    delete: [5, message(() => OPERATION)],
    options: [6, message(() => OPERATION)],
    head: [7, message(() => OPERATION)],
    patch: [8, message(() => OPERATION)],
    parameters: [9, { as: 'parameters' }],
  },
  extensions: 10,
};

const API_KEY: MessageTable = { fields: { type: [1, text], name: [2, text], in: [3, text], description: [4, text] }, extensions: 5 };
const SECURITY_ITEM: MessageTable = { fields: { apiKey: [2, message(() => API_KEY)] }, extensions: 0 };

const DOCUMENT: MessageTable = {
  fields: {
    swagger: [1, text],
    info: [2, message(() => INFO)],
    paths: [8, named(() => PATH_ITEM, 2)],
    definitions: [9, named(() => SCHEMA)],
    securityDefinitions: [13, named(() => SECURITY_ITEM)],
  },
  extensions: 16,
};

const BYTES = 2;
const VARINT = 0;
const FIXED64 = 1;

class DocumentEncoder {
  readonly writer = new WireWriter();

  message(table: MessageTable, object: JsonObject): void {
    for (const [key, value] of Object.entries(object)) {
      const field = table.fields[key];
      if (field !== undefined) this.field(field[0], field[1], value);
      else if (key.startsWith('x-') && table.extensions > 0) this.extension(table.extensions, key, value);
    }
  }

  private field(number: number, carrier: Carrier, value: JsonValue): void {
    switch (carrier.as) {
      case 'string':
        this.string(number, value as string);
        break;
      case 'bool':
        this.writer.varint((number << 3) | VARINT);
        this.writer.varint(value === true ? 1 : 0);
        break;
      case 'int':
        this.writer.varint((number << 3) | VARINT);
        this.writer.int64(value as number);
        break;
      case 'double':
        this.writer.varint((number << 3) | FIXED64);
        this.writer.double(value as number);
        break;
      case 'strings':
        for (const item of value as readonly string[]) this.string(number, item);
        break;
      case 'any':
        for (const item of isJsonArray(value) ? value : [value]) this.delimited(number, () => this.any(item));
        break;
      case 'message':
        this.delimited(number, () => this.message(carrier.of(), value as JsonObject));
        break;
      case 'named':
        this.delimited(number, () => this.named(carrier.of(), carrier.entries, value as JsonObject));
        break;
      default:
        this.special(number, carrier.as, value);
    }
  }

  private special(number: number, as: Carrier['as'], value: JsonValue): void {
    if (as === 'types') {
      this.delimited(number, () => this.field(1, texts, isJsonArray(value) ? value : [value]));
    } else if (as === 'items') {
      for (const item of isJsonArray(value) ? value : [value]) this.delimited(number, () => this.schema(1, item));
    } else if (as === 'additional') {
      this.delimited(number, () => (isJsonObject(value) ? this.schema(1, value) : this.field(2, flag, value)));
    } else if (as === 'response-schema') {
      this.delimited(number, () => this.schema(1, value));
    } else if (as === 'parameters') {
      for (const parameter of value as readonly JsonObject[])
        this.delimited(number, () => this.delimited(1, () => this.parameter(parameter)));
    }
  }

  private schema(number: number, value: JsonValue): void {
    this.delimited(number, () => this.message(SCHEMA, value as JsonObject));
  }

  private parameter(parameter: JsonObject): void {
    if (parameter.in === 'body') this.delimited(1, () => this.message(BODY_PARAMETER, parameter));
    else if (parameter.in === 'query') this.delimited(2, () => this.delimited(3, () => this.message(QUERY_PARAMETER, parameter)));
    else this.delimited(2, () => this.delimited(4, () => this.message(PATH_PARAMETER, parameter)));
  }

  private named(table: MessageTable, entries: number, object: JsonObject): void {
    for (const [name, value] of Object.entries(object)) {
      this.delimited(entries, () => {
        this.string(1, name);
        this.delimited(2, () => this.message(table, wrapped(table, value as JsonObject)));
      });
    }
  }

  private extension(number: number, name: string, value: JsonValue): void {
    this.delimited(number, () => {
      this.string(1, name);
      this.delimited(2, () => this.any(value));
    });
  }

  /** Readers parse it as YAML, of which JSON is a part. */
  private any(value: JsonValue): void {
    this.string(2, `${JSON.stringify(value)}\n`);
  }

  private string(number: number, value: string): void {
    this.writer.varint((number << 3) | BYTES);
    this.writer.string(value);
  }

  private delimited(number: number, write: () => void): void {
    this.writer.varint((number << 3) | BYTES);
    const at = this.writer.begin();
    write();
    this.writer.end(at);
  }
}

// Some messages only choose among alternatives, of which our documents have one.
function wrapped(table: MessageTable, value: JsonObject): JsonObject {
  if (table === RESPONSE_VALUE) return { response: value };
  return table === SECURITY_ITEM ? { apiKey: value } : value;
}
