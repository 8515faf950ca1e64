import type { Command } from 'commander';
import type { Interruption } from './interruption.ts';

/** The outside world as the command line sees it. */
export interface CliIo {
  /** Without the names of node and of the program. */
  argv: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  stdout: OutputStream;
  stderr: OutputStream;
  interruption: Interruption;
}

export interface OutputStream {
  write(text: string): unknown;
  isTTY?: boolean;
}

/** What a command works with. */
export interface CliContext {
  readonly env: CliIo['env'];
  readonly cwd: string;
  /** Aborts when the user wants the command to stop. */
  readonly signal: AbortSignal;
  /** Whether more detail is wanted. */
  readonly verbose: boolean;
  readonly color: { readonly stdout: boolean; readonly stderr: boolean };
  /** Every command with its options: loads them all. */
  commandTree(): Promise<Command>;
  /** Writes a line to standard output: for what the command was asked for. */
  print(line: string): void;
  /** Writes a line to standard error: for progress and notes. */
  note(line: string): void;
}

export function createContext(io: CliIo, commandTree: CliContext['commandTree']): CliContext {
  return {
    env: io.env,
    cwd: io.cwd,
    verbose: io.argv.some((word) => word === '--verbose' || word === '-v'),
    commandTree,
    color: { stdout: wantsColor(io.stdout, io), stderr: wantsColor(io.stderr, io) },
    get signal() {
      return io.interruption.signal();
    },
    print: (line) => void io.stdout.write(`${line}\n`),
    note: (line) => void io.stderr.write(`${line}\n`),
  };
}

/** Colours are for people at a terminal who did not decline them (no-color.org). */
export function wantsColor(stream: OutputStream, { env, argv }: Pick<CliIo, 'env' | 'argv'>): boolean {
  if (env.NO_COLOR || env.TERM === 'dumb' || argv.includes('--no-color')) return false;
  return stream.isTTY === true;
}
