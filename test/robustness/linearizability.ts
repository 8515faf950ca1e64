/**
 * Decides whether a concurrent history is linearizable: whether each operation can be assigned a moment between its call and its return
 * such that the sequence is valid. Wing and Gong's search with Lowe's memoization of configurations, as in Porcupine.
 */
export interface Operation<I, O> {
  readonly input: I;
  /** Undefined: the response was lost. The operation may have taken effect at any time after its call, or never. */
  readonly output: O | undefined;
  readonly call: number;
  /** Infinity when the response was lost. */
  readonly return: number;
}

export interface Model<S, I, O> {
  readonly initial: S;
  /** The state after the operation; undefined when this response is impossible in this state. */
  step(state: S, input: I, output: O | undefined): S | undefined;
  /** States with the same name are equal. */
  nameOf(state: S): string;
}

export function isLinearizable<S, I, O>(model: Model<S, I, O>, operations: readonly Operation<I, O>[]): boolean {
  return new Search(model, operations).run();
}

/** A call or a return, in a linked list from which operations are removed and restored. */
interface Point {
  readonly operation: number;
  /** The return of a call; undefined for a return. */
  readonly match: Point | undefined;
  previous: Point | undefined;
  next: Point | undefined;
}

interface Choice<S> {
  readonly point: Point;
  readonly state: S;
}

class Search<S, I, O> {
  readonly #model: Model<S, I, O>;
  readonly #operations: readonly Operation<I, O>[];
  readonly #head: Point;
  readonly #seen = new Set<string>();

  constructor(model: Model<S, I, O>, operations: readonly Operation<I, O>[]) {
    this.#model = model;
    this.#operations = operations;
    this.#head = pointList(operations);
  }

  run(): boolean {
    const chosen: Choice<S>[] = [];
    let state = this.#model.initial;
    let done = 0n;
    let point = this.#head.next;
    while (this.#head.next !== undefined) {
      const next = point?.match === undefined ? undefined : this.#tryStep(state, point, done);
      if (point?.match !== undefined && next === undefined) {
        point = point.next;
        continue;
      }
      if (point?.match !== undefined) {
        chosen.push({ point, state });
        state = next as S;
        done |= 1n << BigInt(point.operation);
        take(point);
        point = this.#head.next;
        continue;
      }
      // A return precedes all remaining calls: the last choice was wrong.
      const last = chosen.pop();
      if (last === undefined) return false;
      state = last.state;
      done &= ~(1n << BigInt(last.point.operation));
      putBack(last.point);
      point = last.point.next;
    }
    return true;
  }

  /** The state after the operation; undefined when it is impossible, or leads to a configuration that was searched already. */
  #tryStep(state: S, point: Point, done: bigint): S | undefined {
    const { input, output } = this.#operations[point.operation]!;
    const next = this.#model.step(state, input, output);
    if (next === undefined) return undefined;
    const name = `${(done | (1n << BigInt(point.operation))).toString(36)} ${this.#model.nameOf(next)}`;
    if (this.#seen.has(name)) return undefined;
    this.#seen.add(name);
    return next;
  }
}

function pointList(operations: readonly Operation<unknown, unknown>[]): Point {
  const points: { readonly time: number; readonly isReturn: boolean; readonly point: Point }[] = [];
  for (const [index, { call, return: end }] of operations.entries()) {
    const match: Point = { operation: index, match: undefined, previous: undefined, next: undefined };
    points.push({ time: end, isReturn: true, point: match });
    points.push({ time: call, isReturn: false, point: { operation: index, match, previous: undefined, next: undefined } });
  }
  // A call and a return at the same moment overlap.
  points.sort((a, b) => a.time - b.time || Number(a.isReturn) - Number(b.isReturn));
  const head: Point = { operation: -1, match: undefined, previous: undefined, next: undefined };
  let last = head;
  for (const { point } of points) {
    point.previous = last;
    last.next = point;
    last = point;
  }
  return head;
}

function unlink(point: Point): void {
  point.previous!.next = point.next;
  if (point.next !== undefined) point.next.previous = point.previous;
}

function relink(point: Point): void {
  point.previous!.next = point;
  if (point.next !== undefined) point.next.previous = point;
}

function take(call: Point): void {
  unlink(call);
  unlink(call.match!);
}

function putBack(call: Point): void {
  relink(call.match!);
  relink(call);
}

/** A register: one key that is read, written and compared. Every written value is unique; 0 is no value. */
export type RegisterInput =
  | { readonly kind: 'read' }
  /** `expected`: written only when that is the value. */
  | { readonly kind: 'write'; readonly id: number; readonly expected?: number };

export interface RegisterOutput {
  /** The value that a read, or a failed comparison, returned. */
  readonly seen?: number;
  /** For writes. */
  readonly succeeded?: boolean;
}

export const registerModel: Model<number, RegisterInput, RegisterOutput> = {
  initial: 0,
  step(state, input, output) {
    if (input.kind === 'read') return output === undefined || output.seen === state ? state : undefined;
    const holds = input.expected === undefined || input.expected === state;
    if (output === undefined) return holds ? input.id : state;
    if (output.succeeded !== holds) return undefined;
    if (!holds && output.seen !== undefined && output.seen !== state) return undefined;
    return holds ? input.id : state;
  },
  nameOf: String,
};
