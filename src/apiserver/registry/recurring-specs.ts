import { Lru } from '#base';
import { type JsonObject, markRecurring, objectMemberRange } from '#machinery';

/** The most specs that are remembered, and the longest text of one. */
const MAX_SPECS = 256;
const MAX_LENGTH = 32 * 1024;

/** A document whose spec was recognized as text, or could be the next time. */
export interface SpecText {
  readonly text: string;
  /** The document with `null` in the place of its spec. */
  rest(): Buffer;
}

/**
 * Specs that clients send again and again: pods come by the thousand from one template. A spec is read, word for word the same, at most twice; from
 * then on every object that has it shares one decoded value, and with it all that is remembered of recurring values.
 */
export class RecurringSpecs {
  /** Those seen only once have no value yet. */
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

  /** What a spec of this text says, if it is known to recur. */
  recall(text: string): JsonObject | undefined {
    return this.#byText.get(text)?.spec;
  }

  /** A document with this text was read, and nothing was wrong with it. */
  learn(text: string, spec: JsonObject): void {
    const isKnown = this.#byText.get(text) !== undefined;
    if (isKnown) markRecurring(spec);
    this.#byText.set(text, isKnown ? { spec } : {});
  }

  /** The same for clients in this process, which hand over the very value again. */
  recallValue(sent: object): JsonObject | undefined {
    return this.#byValue.get(sent);
  }

  learnValue(sent: object, spec: JsonObject): void {
    const isKnown = this.#byValue.has(sent);
    if (isKnown) markRecurring(spec);
    this.#byValue.set(sent, isKnown ? spec : undefined);
  }
}

const NULL = Buffer.from('null');
