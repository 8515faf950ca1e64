const NEWLINE = 0x0a;

/** Cuts a stream of bytes into lines. */
export class LineSplitter {
  #pending: Buffer[] = [];

  /** Calls `line` with each line that the chunk completes, without its end. */
  push(chunk: Buffer, line: (text: string) => void): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      line(this.#complete(chunk.subarray(start, end)));
      start = end + 1;
    }
    if (start < chunk.length) this.#pending.push(chunk.subarray(start));
  }

  #complete(last: Buffer): string {
    if (this.#pending.length === 0) return last.toString('utf8');
    const whole = Buffer.concat([...this.#pending, last]);
    this.#pending = [];
    return whole.toString('utf8');
  }
}
