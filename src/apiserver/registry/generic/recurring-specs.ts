import { Lru } from '#base';
import { type JsonObject, markRecurring, messageFieldRange, type ObjectSchema, objectMemberRange } from '#machinery';

/** The limits of the cache: number of specs, and text length. */
const MAX_SPECS = 256;
const MAX_LENGTH = 32 * 1024;

/** A document whose spec is cached by its text, or may be next time. */
export interface SpecText {
  readonly text: string;
  /** The document with `null` instead of its spec; of a protobuf message, the bytes around its spec. */
  rest(): Buffer;
}

/**
 * Caches specs that clients send repeatedly, such as those of one pod template. A spec is decoded at most twice; later objects with the
 * same text share one value, and with it all results cached for recurring values (ADR 0008).
 */
export class RecurringSpecs {
  /** Entries seen once have no value yet. */
  readonly #byText = new Lru<string, { readonly spec?: JsonObject }>({ capacity: MAX_SPECS });
  readonly #byValue = new WeakMap<object, JsonObject | undefined>();

  /** Finds the spec in a JSON document. */
  find(document: Buffer): SpecText | undefined {
    const range = document.length <= MAX_LENGTH ? objectMemberRange(document, 'spec') : undefined;
    if (range === undefined) return undefined;
    const { from, to } = range;
    const rest = () => Buffer.concat([document.subarray(0, from), NULL, document.subarray(to)]);
    return { text: document.toString('latin1', from, to), rest };
  }

  /** Finds the spec in a protobuf message, without its envelope. */
  findInMessage(message: Buffer, schema: ObjectSchema): SpecText | undefined {
    const range = message.length <= MAX_LENGTH ? messageFieldRange(schema, message, 'spec') : undefined;
    if (range === undefined) return undefined;
    const { from, to } = range;
    const rest = () => Buffer.concat([message.subarray(0, from), message.subarray(to)]);
    return { text: MESSAGE + message.toString('latin1', from, to), rest };
  }

  /** The cached spec of this text. */
  recall(text: string): JsonObject | undefined {
    return this.#byText.get(text)?.spec;
  }

  /** Called for each valid document with this text. */
  learn(text: string, spec: JsonObject): void {
    const isPresent = this.#byText.get(text) !== undefined;
    if (isPresent) markRecurring(spec);
    this.#byText.set(text, isPresent ? { spec } : {});
  }

  /** For in-process clients, which send the same object again. */
  recallValue(sent: object): JsonObject | undefined {
    return this.#byValue.get(sent);
  }

  learnValue(sent: object, spec: JsonObject): void {
    const isPresent = this.#byValue.has(sent);
    if (isPresent) markRecurring(spec);
    this.#byValue.set(sent, isPresent ? spec : undefined);
  }
}

const NULL = Buffer.from('null');
/** A prefix that JSON text cannot have. */
const MESSAGE = 'protobuf:';
