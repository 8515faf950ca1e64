import { type ChildProcess, spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { BUNDLE_OPTIONS } from '../../scripts/build.mjs';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** A program of `programs/`, bundled for Node: tests kill, starve or trace it. */
export interface ChildProgram extends AsyncDisposable {
  readonly file: string;
  /** Runs it; `through` is a command that gets the program as its last arguments. */
  start(args: readonly string[], through?: readonly string[]): RunningProgram;
}

export interface RunningProgram {
  readonly process: ChildProcess;
  /** Lines it has written so far. */
  readonly lines: string[];
  readonly errors: string[];
  /** Resolves when it has exited and all its output was received. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  /** Resolves when it has written this many lines, or has exited. */
  wrote(count: number): Promise<void>;
}

export async function bundleProgram(name: string): Promise<ChildProgram> {
  // Inside the repository, where Node resolves lmdb.
  const file = path.join(ROOT, '.sampan/robustness', `${name}-${process.pid}.mjs`);
  await build({ ...BUNDLE_OPTIONS, entryPoints: [path.join(ROOT, 'test/robustness/programs', `${name}.ts`)], outfile: file });
  return {
    file,
    start: (args, through = []) => run([...through, process.execPath, file, ...args]),
    [Symbol.asyncDispose]: () => rm(file, { force: true }),
  };
}

function run([command, ...args]: readonly string[]): RunningProgram {
  const child = spawn(command!, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const lines: string[] = [];
  const errors: string[] = [];
  let rest = '';
  let wake = () => {};
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const parts = (rest + text).split('\n');
    rest = parts.pop()!;
    lines.push(...parts);
    wake();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => errors.push(text));
  let over = false;
  const ended: RunningProgram['ended'] = new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      over = true;
      wake();
      resolve({ code, signal });
    });
  });
  const wrote = async (count: number) => {
    while (lines.length < count && !over) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  return { process: child, lines, errors, ended, wrote };
}
