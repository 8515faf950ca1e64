import type { Command } from 'commander';
import type { Interruption } from './interruption.ts';

/** The process's environment as seen by the CLI. */
export interface CliIo {
  /** Without node and the program. */
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

/** The environment of a command. */
export interface CliContext {
  readonly env: CliIo['env'];
  readonly cwd: string;
  /** Aborts when the user interrupts the command. */
  readonly signal: AbortSignal;
  /** Whether to show more detail. */
  readonly verbose: boolean;
  readonly color: { readonly stdout: boolean; readonly stderr: boolean };
  /** All commands with their options: loads every command. */
  commandTree(): Promise<Command>;
  /** Writes a line of output to stdout. */
  print(line: string): void;
  /** Writes a line to stderr: progress and notes. */
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

/** Colours on terminals, unless disabled (no-color.org). */
export function wantsColor(stream: OutputStream, { env, argv }: Pick<CliIo, 'env' | 'argv'>): boolean {
  if (env.NO_COLOR || env.TERM === 'dumb' || argv.includes('--no-color')) return false;
  return stream.isTTY === true;
}
