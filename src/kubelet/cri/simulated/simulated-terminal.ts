import { PassThrough, type Readable, Transform, type TransformCallback, type Writable } from 'node:stream';

const KEYS = {
  interrupt: 0x03,
  endOfInput: 0x04,
  backspace: 0x08,
  newline: 0x0a,
  carriageReturn: 0x0d,
  killLine: 0x15,
  delete: 0x7f,
} as const;
const MAX_LINE = 4096;

export interface TerminalStreams {
  readonly stdin: Readable | undefined;
  readonly stdout: Writable | undefined;
}

/** The line discipline of a terminal: echo, line editing, Ctrl-C and Ctrl-D. */
export class SimulatedTerminal {
  /** Whole lines for the program. */
  readonly input = new PassThrough();
  /** The program's output. */
  readonly output: Writable;
  /** Rows and columns. */
  size = '24 80';
  #line: number[] = [];
  #interrupt: AbortController | undefined;
  readonly #screen: Writable | undefined;

  constructor({ stdin, stdout }: TerminalStreams) {
    this.#screen = stdout;
    const output = new Transform({ transform: addCarriageReturns });
    if (stdout === undefined) output.resume();
    else output.pipe(stdout);
    this.output = output;
    stdin?.on('data', (chunk: Buffer) => this.#type(chunk));
    stdin?.once('close', () => this.input.end());
  }

  /** For one foreground command: aborted by Ctrl-C. */
  interruptSignal(): AbortSignal {
    this.#interrupt = new AbortController();
    return this.#interrupt.signal;
  }

  /** The foreground command has exited: Ctrl-C reaches the shell again. */
  endForeground(): void {
    this.#interrupt = undefined;
  }

  #type(keys: Buffer): void {
    for (const key of keys) this.#handleKey(key);
  }

  #handleKey(key: number): void {
    switch (key) {
      case KEYS.interrupt:
        this.#handleInterrupt();
        break;
      case KEYS.endOfInput:
        if (this.#line.length === 0) this.input.end();
        else this.#submitLine();
        break;
      case KEYS.carriageReturn:
      case KEYS.newline:
        this.#show('\r\n');
        this.#line.push(KEYS.newline);
        this.#submitLine();
        break;
      case KEYS.backspace:
      case KEYS.delete:
        this.#erase(1);
        break;
      case KEYS.killLine:
        this.#erase(this.#line.length);
        break;
      default:
        this.#add(key);
    }
  }

  #add(key: number): void {
    if (this.#line.length >= MAX_LINE) return;
    this.#line.push(key);
    this.#show(Buffer.from([key]));
  }

  #submitLine(): void {
    // Drops unread input, as a kernel does.
    if (!this.input.writableEnded && !this.input.writableNeedDrain) this.input.write(Buffer.from(this.#line));
    this.#line = [];
  }

  #erase(count: number): void {
    for (let left = Math.min(count, this.#line.length); left > 0; left--) {
      // Continuation bytes of UTF-8 occupy no column.
      while (((this.#line.pop() ?? 0) & 0xc0) === 0x80) left--;
      this.#show('\b \b');
    }
  }

  #handleInterrupt(): void {
    this.#line = [];
    this.#show('^C\r\n');
    if (this.#interrupt !== undefined) this.#interrupt.abort();
    else if (!this.input.writableEnded) this.input.write('\n');
    this.#interrupt = undefined;
  }

  #show(text: string | Buffer): void {
    if (this.#screen?.writable && !this.#screen.writableNeedDrain) this.#screen.write(text);
  }
}

function addCarriageReturns(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
  done(null, chunk.includes(KEYS.newline) ? Buffer.from(chunk.toString('latin1').replaceAll('\n', '\r\n'), 'latin1') : chunk);
}
