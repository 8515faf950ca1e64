import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ROOT } from '../house-rules/source-tree.ts';

export const PROGRAM = path.join(ROOT, 'dist/sampan.js');
const TIMEOUT_MS = 30_000;

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A home directory with the programs that run in it. Programs started by it end with it. */
export class Workplace implements AsyncDisposable {
  readonly home = mkdtempSync(path.join(os.tmpdir(), 'sampan-e2e-'));
  readonly #children: ChildProcess[] = [];

  path(name: string): string {
    return path.join(this.home, name);
  }

  get env(): NodeJS.ProcessEnv {
    const { XDG_DATA_HOME, KUBECONFIG, ...rest } = process.env;
    return { ...rest, HOME: this.home, NO_COLOR: '1' };
  }

  sampan(...args: string[]): Promise<Outcome> {
    return this.run(process.execPath, [PROGRAM, ...args]);
  }

  /** The output of kubectl, which must succeed. */
  async kubectl(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.run('kubectl', args);
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`);
    return stdout.trim();
  }

  run(program: string, args: readonly string[], input?: string): Promise<Outcome> {
    return new Promise((resolve) => {
      const options = { cwd: this.home, env: this.env, timeout: TIMEOUT_MS, killSignal: 'SIGKILL' as const };
      const child = execFile(program, args, options, (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : typeof error.code === 'number' ? error.code : -1, stdout, stderr }),
      );
      child.stdin?.end(input);
    });
  }

  apply(manifest: string): Promise<Outcome> {
    return this.run('kubectl', ['apply', '-f', '-'], manifest);
  }

  /** Starts a program in the background; its output is in the file `NAME.log`. */
  start(name: string, program: string, args: readonly string[]): ChildProcess {
    const child = spawn(program, args, { cwd: this.home, env: this.env, stdio: ['ignore', 'pipe', 'pipe'] });
    const log = createWriteStream(this.path(`${name}.log`));
    child.stdout.pipe(log, { end: false });
    child.stderr.pipe(log, { end: false });
    child.once('close', () => log.end());
    this.#children.push(child);
    return child;
  }

  startSampan(name: string, ...args: string[]): ChildProcess {
    return this.start(name, process.execPath, [PROGRAM, ...args]);
  }

  log(name: string): string {
    return readFileSync(this.path(`${name}.log`), 'utf8');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#children.toReversed()) await end(child, 'SIGKILL');
    rmSync(this.home, { recursive: true, force: true, maxRetries: 5 });
  }
}

export async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, 'close');
  child.kill(signal);
  await closed;
}
