import { compareBytes } from '../values/go-format.ts';
import { isJsonArray, type JsonObject, type JsonValue } from './json-value.ts';

/** An object or array of which some members are written. */
interface OpenValue {
  readonly value: JsonObject | readonly JsonValue[];
  readonly keys: readonly string[] | undefined;
  readonly close: string;
  next: number;
  isFirst: boolean;
}

/** As JSON.stringify, for values that are nested more deeply than the stack allows for, and with integers held as bigint as plain digits. */
export function encodeDeepJson(root: JsonValue | undefined): string {
  return new DeepWriter(Object.keys).write(root);
}

/** The same with the members of every object sorted by name. */
export function encodeSortedJson(root: JsonValue): string {
  return new DeepWriter((object) => Object.keys(object).sort(compareBytes)).write(root);
}

class DeepWriter {
  readonly #keysOf: (object: JsonObject) => readonly string[];
  readonly #parts: string[] = [];
  readonly #stack: OpenValue[] = [];

  constructor(keysOf: (object: JsonObject) => readonly string[]) {
    this.#keysOf = keysOf;
  }

  write(root: JsonValue | undefined): string {
    const stack = this.#stack;
    this.#value(root);
    for (let open = stack.at(-1); open !== undefined; open = stack.at(-1)) {
      const member = nextMember(open, this.#parts);
      if (member === DONE) {
        this.#parts.push(open.close);
        stack.pop();
      } else this.#value(member);
    }
    return this.#parts.join('');
  }

  #value(value: JsonValue | bigint | undefined): void {
    if (typeof value === 'bigint') this.#parts.push(value.toString());
    else if (typeof value !== 'object' || value === null) this.#parts.push(JSON.stringify(value ?? null));
    else if (isJsonArray(value)) this.#open({ value, keys: undefined, close: ']', next: 0, isFirst: true });
    else if (typeof (value as { toJSON?: unknown }).toJSON === 'function') this.#parts.push(JSON.stringify(value));
    else this.#open({ value, keys: this.#keysOf(value), close: '}', next: 0, isFirst: true });
  }

  #open(entered: OpenValue): void {
    this.#parts.push(entered.keys === undefined ? '[' : '{');
    this.#stack.push(entered);
  }
}

const DONE = Symbol('no member is left');

function nextMember(open: OpenValue, parts: string[]): JsonValue | undefined | typeof DONE {
  const { value, keys } = open;
  for (; open.next < (keys ?? (value as readonly JsonValue[])).length; ) {
    const key = keys?.[open.next];
    const member = key === undefined ? (value as readonly JsonValue[])[open.next] : (value as JsonObject)[key];
    open.next++;
    if (key !== undefined && member === undefined) continue;
    parts.push(open.isFirst ? '' : ',', key === undefined ? '' : `${JSON.stringify(key)}:`);
    open.isFirst = false;
    return member;
  }
  return DONE;
}
