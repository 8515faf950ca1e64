import type { WatchFrame } from '../watch-cache/watcher.ts';
import type { FrameEncoder } from './frame-encoder.ts';

/** The size of a write. */
export const WRITE_BYTES = 128 * 1024;
/** What is kept of all states together. */
const BUDGET_BYTES = 32 * 1024 * 1024;

/** Consecutive frames in one immutable buffer. */
export interface StatePiece {
  readonly bytes: Buffer;
  readonly count: number;
  /** The index of the frame after it. */
  readonly next: number;
}

interface Budget {
  bytes: number;
}

/**
 * Encoded initial states of watches. Watches that start with the same state at the same time, for example after a restart, share its
 * encoding.
 */
export class SharedStates {
  readonly #budget: Budget = { bytes: BUDGET_BYTES };
  /** By what the watch cache identifies a state by, and the encoding. */
  readonly #states = new WeakMap<object, Map<string, SharedState>>();

  /** The caller leaves it when it has sent it. */
  join(id: object, encoding: string, frames: Iterable<WatchFrame>): SharedState {
    let encodings = this.#states.get(id);
    if (encodings === undefined) {
      encodings = new Map();
      this.#states.set(id, encodings);
    }
    let state = encodings.get(encoding);
    if (state === undefined) {
      state = new SharedState(frames, this.#budget, () => encodings.delete(encoding));
      encodings.set(encoding, state);
    }
    state.users++;
    return state;
  }
}

/** One state in one encoding, while watches send it. Pieces beyond the budget are encoded for each watch. */
export class SharedState {
  users = 0;
  readonly #source: Iterator<WatchFrame>;
  readonly #frames: WatchFrame[] = [];
  readonly #pieces = new Map<number, StatePiece>();

  constructor(
    frames: Iterable<WatchFrame>,
    private readonly budget: Budget,
    private readonly onLeft: () => void,
  ) {
    this.#source = frames[Symbol.iterator]();
  }

  /** The piece that begins with this frame; undefined at the end. */
  piece(from: number, encoder: FrameEncoder): StatePiece | undefined {
    const shared = this.#pieces.get(from);
    if (shared !== undefined) return shared;
    let to = from;
    let length = 0;
    for (let frame = this.#frame(to); frame !== undefined && length < WRITE_BYTES; frame = this.#frame(++to))
      length += encoder.lengthOf(frame);
    if (to === from) return undefined;
    const piece = { bytes: encoder.join(this.#frames.slice(from, to), length), count: to - from, next: to };
    this.#keep(from, piece);
    return piece;
  }

  #frame(index: number): WatchFrame | undefined {
    if (index < this.#frames.length) return this.#frames[index];
    const { done, value } = this.#source.next();
    if (done) return undefined;
    this.#frames.push(value);
    return value;
  }

  #keep(from: number, piece: StatePiece): void {
    if (this.budget.bytes < piece.bytes.length) return;
    this.budget.bytes -= piece.bytes.length;
    this.#pieces.set(from, piece);
  }

  leave(): void {
    if (--this.users > 0) return;
    this.onLeft();
    for (const { bytes } of this.#pieces.values()) this.budget.bytes += bytes.length;
    this.#pieces.clear();
  }
}
