const NEWLINE = 0x0a;

/** Splits a byte stream into lines. */
export class LineSplitter {
  readonly #maxBytes: number;
  #pending: Buffer[] = [];
  #size = 0;

  /** Throws for a line that is longer than `maxBytes`. */
  constructor(maxBytes = Number.POSITIVE_INFINITY) {
    this.#maxBytes = maxBytes;
  }

  /** Calls `line` for each completed line, without its newline. */
  push(chunk: Buffer, line: (text: string) => void): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      line(this.#complete(chunk.subarray(start, end)));
      start = end + 1;
    }
    if (start === chunk.length) return;
    this.#pending.push(chunk.subarray(start));
    this.#size += chunk.length - start;
    if (this.#size > this.#maxBytes) throw new Error(`a line is longer than ${this.#maxBytes} bytes`);
  }

  #complete(last: Buffer): string {
    if (this.#pending.length === 0) return last.toString('utf8');
    const joined = Buffer.concat([...this.#pending, last]);
    this.#pending = [];
    this.#size = 0;
    return joined.toString('utf8');
  }
}
