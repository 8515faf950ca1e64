import { PassThrough, Writable } from 'node:stream';
import { type Clock, raceAbort } from '#base';
import type { LogEntry, LogReadOptions } from '../../logs/container-logs.ts';
import type { AttachRequest, RemoteCommand } from '../runtime.ts';
import type { SimulatedFiles } from './simulated-files.ts';
import { isSimulatedCommand, runSimulated } from './simulated-shell.ts';
import { SimulatedTerminal } from './simulated-terminal.ts';

export interface SimulatedProcessOptions {
  /** Empty: a shell. Commands that the shell does not know echo their input. */
  readonly command: readonly string[];
  readonly env: readonly { readonly key: string; readonly value: string }[];
  readonly hostname: string;
  readonly files: SimulatedFiles;
  readonly tty: boolean;
  /** Only the first client with stdin is connected; when it closes, stdin is closed. */
  readonly stdinOnce: boolean;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** The limit of retained output, for logs. */
const MAX_LOG_BYTES = 1024 * 1024;

/** The main process of a container with open stdin, and its attached clients. */
export class SimulatedProcess {
  readonly exit: Promise<number>;
  readonly #options: SimulatedProcessOptions;
  readonly #input = new PassThrough();
  readonly #terminal: SimulatedTerminal | undefined;
  readonly #attached = new Set<{ readonly [stream in LogEntry['stream']]?: PassThrough | undefined }>();
  readonly #log: LogEntry[] = [];
  /** The number of entries dropped from the log. */
  #dropped = 0;
  #waiting: (() => void)[] = [];
  #logBytes = 0;
  #isOver = false;

  constructor(options: SimulatedProcessOptions) {
    this.#options = options;
    const stdout = this.#output('stdout');
    this.#terminal = options.tty ? new SimulatedTerminal({ stdin: this.#input, stdout }) : undefined;
    // A command that the simulation cannot run to its end has failed.
    this.exit = this.#run(stdout).catch(() => 1);
  }

  /** Replays the output so far and streams what follows. */
  attach(request: AttachRequest): RemoteCommand {
    const stdin = request.stdin ? this.#openInput() : undefined;
    const streams = { stdout: request.stdout ? new PassThrough() : undefined, stderr: request.stderr ? new PassThrough() : undefined };
    for (const { stream, content } of this.#log) streams[stream]?.write(content);
    this.#attached.add(streams);
    for (const stream of Object.values(streams)) stream?.once('close', () => this.#attached.delete(streams));
    // Upstream's runtimes do not report the exit code to attached clients.
    const exit = Promise.race([this.exit, this.#detached(stdin)]).then(() => ({ exitCode: 0 }));
    const finish = () => {
      for (const stream of Object.values(streams)) stream?.end();
    };
    void exit.then(finish, finish);
    const resize = (width: number, height: number) => {
      if (this.#terminal !== undefined) this.#terminal.size = `${height} ${width}`;
    };
    const { stdout, stderr } = streams;
    return { ...(stdin && { stdin }), ...(stdout && { stdout }), ...(stderr && { stderr }), ...(this.#terminal && { resize }), exit };
  }

  async *log({ follow = false, signal }: LogReadOptions): AsyncIterable<LogEntry> {
    for (let next = 0; ; ) {
      for (next = Math.max(next, this.#dropped); next < this.#dropped + this.#log.length; next = Math.max(next + 1, this.#dropped))
        yield this.#log[next - this.#dropped]!;
      if (!follow || this.#isOver || signal?.aborted) return;
      await this.#change(signal);
    }
  }

  async #change(signal: AbortSignal | undefined): Promise<void> {
    const changed = new Promise<void>((resolve) => this.#waiting.push(resolve));
    await raceAbort(changed, signal).catch(() => {});
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  async #run(stdout: Writable): Promise<number> {
    const { command, env, hostname, files, clock, signal } = this.#options;
    const [program = 'sh'] = command;
    const terminal = this.#terminal;
    const words = isSimulatedCommand(program) ? [program, ...command.slice(1)] : ['cat'];
    const stderr = terminal === undefined ? this.#output('stderr') : undefined;
    const streams = { stdin: terminal?.input ?? this.#input, stdout: terminal?.output ?? stdout, stderr };
    const interrupt = terminal === undefined ? signal : AbortSignal.any([signal, terminal.interruptSignal()]);
    const exitCode = await runSimulated(words, { ...streams, terminal, env, hostname, files, clock, signal: interrupt });
    await flushed(streams.stdout);
    this.#isOver = true;
    this.#input.destroy();
    this.#wake();
    return exitCode;
  }

  /** Like containerd: unless stdin closes with its first client, a client is detached when its input ends. */
  #detached(stdin: PassThrough | undefined): Promise<void> {
    return new Promise((resolve) => {
      if (stdin !== undefined && !this.#options.stdinOnce) stdin.once('close', resolve);
    });
  }

  #openInput(): PassThrough {
    const stdin = new PassThrough();
    stdin.on('error', () => {});
    stdin.pipe(this.#input, { end: false });
    if (this.#options.stdinOnce) stdin.once('close', () => this.#input.end());
    return stdin;
  }

  /** Applies back-pressure: a slow client slows the process down. */
  #output(stream: LogEntry['stream']): Writable {
    return new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        this.#record(stream, chunk);
        const readers = [...this.#attached].map((streams) => streams[stream]).filter((reader) => reader !== undefined);
        void Promise.all(readers.map((reader) => send(reader, chunk))).then(() => done(), done);
      },
    });
  }

  #record(stream: LogEntry['stream'], content: Buffer): void {
    const timeMs = this.#options.clock.now();
    const entry: LogEntry = { timeMs, time: new Date(timeMs).toISOString().replace('Z', '000000Z'), stream, content: Buffer.from(content) };
    this.#log.push(entry);
    this.#logBytes += content.length;
    for (; this.#logBytes > MAX_LOG_BYTES; this.#dropped++) this.#logBytes -= this.#log.shift()!.content.length;
    this.#wake();
  }
}

function send(reader: PassThrough, chunk: Buffer): Promise<void> | void {
  if (!reader.writable || reader.write(chunk)) return;
  return new Promise((resolve) => {
    const settle = () => {
      reader.off('drain', settle).off('close', settle);
      resolve();
    };
    reader.once('drain', settle).once('close', settle);
  });
}

/** Resolves when all output has been delivered. */
function flushed(output: Writable): Promise<void> {
  return new Promise((resolve) => void output.end(resolve));
}
