import { createHash } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { type Clock, isAbort, raceAbort } from '#base';
import { readTar } from '../../containerd/tar-reader.ts';
import { writeTar } from '../../containerd/tar-writer.ts';
import type { SimulatedFiles } from './simulated-files.ts';
import type { SimulatedTerminal } from './simulated-terminal.ts';

/** The environment of a command in a simulated container. */
export interface ShellSession {
  readonly stdin: Readable | undefined;
  readonly stdout: Writable | undefined;
  readonly stderr: Writable | undefined;
  /** The terminal that the streams are connected to, if any. */
  readonly terminal: SimulatedTerminal | undefined;
  readonly files: SimulatedFiles;
  readonly env: readonly { readonly key: string; readonly value: string }[];
  readonly hostname: string;
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
}

type Command = (args: readonly string[], session: ShellSession) => Promise<number>;

const NOT_FOUND = 127;
const INTERRUPTED = 130;
const ZERO_CHUNK = 64 * 1024;

/** The built-in commands: enough to try streams, copies and terminals without a runtime. */
const COMMANDS: ReadonlyMap<string, Command> = new Map<string, Command>([
  ['true', async () => 0],
  [':', async () => 0],
  ['false', async () => 1],
  ['echo', async (args, session) => print(session, `${args.join(' ')}\n`)],
  ['hostname', async (_, session) => print(session, `${session.hostname}\n`)],
  ['pwd', async (_, session) => print(session, '/\n')],
  ['env', async (_, session) => print(session, session.env.map(({ key, value }) => `${key}=${value}\n`).join(''))],
  [
    'ls',
    async ([path = '/'], { files, ...session }) =>
      print(
        session,
        files
          .list(path)
          .map((name) => `${name}\n`)
          .join(''),
      ),
  ],
  ['stty', stty],
  ['test', async ([flag, path = ''], { files }) => ((flag === '-d' ? files.isDirectory(path) : files.get(path) !== undefined) ? 0 : 1)],
  ['sleep', async ([text = ''], { clock, signal }) => sleep(text, clock, signal)],
  ['cat', cat],
  ['head', head],
  ['wc', wc],
  ['sha256sum', sha256sum],
  ['tar', tar],
  ['sh', shell],
  ['bash', shell],
]);

export function isSimulatedCommand(program: string): boolean {
  return COMMANDS.has(baseName(program));
}

function baseName(program: string): string {
  return program.slice(program.lastIndexOf('/') + 1);
}

/** Runs a command and resolves with its exit code. */
export async function runSimulated(words: readonly string[], session: ShellSession): Promise<number> {
  const [program = '', ...args] = words;
  const command = COMMANDS.get(baseName(program));
  if (command === undefined) return fail(session, `sh: ${program}: not found`, NOT_FOUND);
  try {
    return await raceAbort(command(args, session), session.signal);
  } catch (error) {
    if (isAbort(error) || session.signal?.aborted) return INTERRUPTED;
    return fail(session, `${program}: ${(error as Error).message}`, 1);
  }
}

/** Applies back-pressure. */
function write(to: Writable | undefined, chunk: Buffer | string): Promise<void> {
  if (to === undefined || chunk.length === 0) return Promise.resolve();
  if (to.destroyed) return Promise.reject(new Error('write error: Broken pipe'));
  return new Promise((resolve, reject) => {
    const closed = () => reject(new Error('write error: Broken pipe'));
    to.once('close', closed);
    to.write(chunk, (error) => {
      to.off('close', closed);
      if (error) reject(error);
      else resolve();
    });
  });
}

async function print({ stdout }: Pick<ShellSession, 'stdout'>, text: Buffer | string): Promise<number> {
  await write(stdout, text);
  return 0;
}

async function fail({ stderr, stdout }: ShellSession, message: string, code: number): Promise<number> {
  await write(stderr ?? stdout, `${message}\n`).catch(() => {});
  return code;
}

async function sleep(text: string, clock: Clock, signal: AbortSignal | undefined): Promise<number> {
  const seconds = text === 'infinity' ? Infinity : Number(text);
  if (!(seconds >= 0)) throw new Error(`invalid time interval '${text}'`);
  await clock.sleep(seconds * 1000, signal);
  return 0;
}

async function stty(_args: readonly string[], { terminal, ...session }: ShellSession): Promise<number> {
  if (terminal === undefined) throw new Error('standard input: Inappropriate ioctl for device');
  return print(session, `${terminal.size}\n`);
}

async function cat(paths: readonly string[], session: ShellSession): Promise<number> {
  if (paths.length === 0 && session.stdin !== undefined)
    for await (const chunk of session.stdin) await write(session.stdout, chunk as Buffer);
  for (const path of paths) {
    const size = zeroFileSize(path);
    if (size !== undefined) await writeZeros(session, size);
    else await write(session.stdout, session.files.read(path));
  }
  return 0;
}

/** `/dev/zero/BYTES` is a file of that many zeros. */
function zeroFileSize(path: string): number | undefined {
  const text = /^\/?dev\/zero\/(\d{1,13})$/.exec(path)?.[1];
  return text === undefined ? undefined : Number(text);
}

async function writeZeros({ stdout }: ShellSession, size: number): Promise<void> {
  const zeros = Buffer.alloc(ZERO_CHUNK);
  for (let left = size; left > 0; left -= ZERO_CHUNK) await write(stdout, left < ZERO_CHUNK ? zeros.subarray(0, left) : zeros);
}

/** `head -c BYTES /dev/zero`. */
async function head(args: readonly string[], session: ShellSession): Promise<number> {
  const [flag, count = '', path] = args;
  if (flag !== '-c' || !/^\d{1,13}$/.test(count) || path !== '/dev/zero') throw new Error('only -c BYTES /dev/zero is known here');
  await writeZeros(session, Number(count));
  return 0;
}

async function wc(_: readonly string[], session: ShellSession): Promise<number> {
  let length = 0;
  await eachChunk(session, (chunk) => {
    length += chunk.length;
  });
  return print(session, `${length}\n`);
}

/** Reads the input to its end, without a promise for each chunk. */
async function eachChunk({ stdin }: ShellSession, take: (chunk: Buffer) => void): Promise<void> {
  if (stdin === undefined) return;
  stdin.on('data', take);
  await finished(stdin, { writable: false, cleanup: true });
}

async function digestOfInput(session: ShellSession): Promise<string> {
  const hash = createHash('sha256');
  await eachChunk(session, (chunk) => hash.update(chunk));
  return hash.digest('hex');
}

async function sha256sum(paths: readonly string[], session: ShellSession): Promise<number> {
  if (paths.length === 0) return print(session, `${await digestOfInput(session)}  -\n`);
  for (const path of paths) await print(session, `${createHash('sha256').update(session.files.read(path)).digest('hex')}  ${path}\n`);
  return 0;
}

/** `tar cf - PATH…` and `tar xf - -C DIRECTORY`, as kubectl cp calls it. */
async function tar(args: readonly string[], session: ShellSession): Promise<number> {
  const flags = args.filter((arg) => arg.startsWith('-') || arg === args[0]).join('');
  const at = args.indexOf('-C');
  const directory = at < 0 ? '/' : (args[at + 1] ?? '/');
  if (flags.includes('x')) return extract(directory, session);
  const paths = args.slice(1).filter((arg, i, all) => !arg.startsWith('-') && all[i - 1] !== '-C');
  for (const path of paths) await archive(path, session);
  return print(session, Buffer.alloc(1024));
}

const TAR_BLOCK = 512;

async function archive(path: string, session: ShellSession): Promise<void> {
  const size = zeroFileSize(path);
  const name = path.replace(/^\/+/, '');
  if (size !== undefined) {
    await write(session.stdout, zeroFileHeader(name, size));
    await writeZeros(session, Math.ceil(size / TAR_BLOCK) * TAR_BLOCK);
    return;
  }
  const entries = session.files.under(path).map(([file, content]) => ({ name: file.replace(/^\/+/, ''), content, mode: 0o644 }));
  if (entries.length === 0) throw new Error(`${path}: No such file or directory`);
  const bytes = writeTar(entries);
  // The end-of-archive marker is written once, after the last path.
  await write(session.stdout, bytes.subarray(0, bytes.length - 2 * TAR_BLOCK));
}

/** The tar header of an empty file, with its size replaced. */
function zeroFileHeader(name: string, size: number): Buffer {
  const header = Buffer.from(writeTar([{ name, content: Buffer.alloc(0), mode: 0o644 }]).subarray(0, TAR_BLOCK));
  header.write(`${size.toString(8).padStart(11, '0')}\0`, 124, 'latin1');
  header.fill(' ', 148, 156);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return header;
}

async function extract(directory: string, session: ShellSession): Promise<number> {
  if (session.stdin === undefined) throw new Error('no input');
  for await (const { name, type, size, content } of readTar(session.stdin)) {
    const path = `${directory}/${name}`;
    if (type === 'directory') session.files.makeDirectory(path);
    if (type === 'file') await session.files.write(path, size, content);
  }
  return 0;
}

/** `sh -c TEXT`, or lines from stdin until EOF or `exit`. */
async function shell(args: readonly string[], session: ShellSession): Promise<number> {
  const at = args.findIndex((arg) => /^-[a-z]*c$/.test(arg));
  if (at >= 0) return runLine(args[at + 1] ?? '', session);
  let code = 0;
  await prompt(session);
  for await (const line of linesOf(session)) {
    const exit = /^\s*exit(?:\s+(\d+))?\s*$/.exec(line);
    if (exit !== null) return Number(exit[1] ?? code) & 255;
    code = await runLine(line, foreground(session));
    await prompt(session);
  }
  return code;
}

async function prompt({ terminal, stdout }: ShellSession): Promise<void> {
  if (terminal === undefined) return;
  terminal.endForeground();
  await write(stdout, '/ # ');
}

/** Ctrl-C aborts the foreground command of an interactive shell, not the shell. */
function foreground(session: ShellSession): ShellSession {
  const { terminal, signal } = session;
  if (terminal === undefined) return { ...session, stdin: undefined };
  const interrupt = terminal.interruptSignal();
  return { ...session, stdin: undefined, signal: signal === undefined ? interrupt : AbortSignal.any([signal, interrupt]) };
}

async function* linesOf({ stdin }: ShellSession): AsyncIterable<string> {
  let pending = '';
  for await (const chunk of stdin ?? []) {
    const lines = (pending + (chunk as Buffer).toString()).split('\n');
    pending = lines.pop()!.slice(-MAX_LINE);
    yield* lines;
  }
  if (pending !== '') yield pending;
}

const MAX_LINE = 4096;

/** Commands separated by `;` and `&&`, with output redirection by `> FILE`. */
async function runLine(text: string, session: ShellSession): Promise<number> {
  let code = 0;
  for (const part of text.split(';')) {
    code = 0;
    for (const step of part.split('&&')) {
      const words = step.match(/"[^"]*"|'[^']*'|[^\s"']+/g)?.map((word) => word.replace(/^["']|["']$/g, '')) ?? [];
      if (words.length === 0) continue;
      if (words[0] === 'exit') return Number(words[1] ?? code) & 255;
      code = await runRedirected(words, session);
      if (code !== 0) break;
    }
  }
  return code;
}

async function runRedirected(words: readonly string[], session: ShellSession): Promise<number> {
  const at = words.findIndex((word) => word === '>' || word === '>&2' || word === '1>&2');
  if (at < 0) return runSimulated(words, session);
  const command = words.slice(0, at);
  if (words[at] !== '>') return runSimulated(command, { ...session, stdout: session.stderr ?? session.stdout });
  const file = session.files.writable(words[at + 1] ?? '');
  const code = await runSimulated(command, { ...session, stdout: file });
  await new Promise<void>((resolve) => void file.end(resolve));
  return code;
}
