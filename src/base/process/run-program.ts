import { spawn } from 'node:child_process';

/** The output limit of a program: large enough for listings of large rule sets. */
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;
const TIMEOUT_MS = 60_000;

export interface RunProgramOptions {
  /** Written to its standard input. */
  readonly input?: string;
  /** Default: a minute. */
  readonly timeoutMs?: number;
}

/** A program that could not be started, or failed. The message is its standard error. */
export class ProgramError extends Error {
  override readonly name = 'ProgramError';

  constructor(
    message: string,
    readonly program: string,
    /** Absent if it could not be started or was killed. */
    readonly exitCode: number | undefined,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Runs a program without a shell; resolves to its standard output. Throws ProgramError. */
export function runProgram(program: string, args: readonly string[], options: RunProgramOptions = {}): Promise<string> {
  const { input, timeoutMs = TIMEOUT_MS } = options;
  return new Promise((resolve, reject) => {
    // Not spawn's timeout option: its timer leaks if the program cannot be started.
    const signal = AbortSignal.timeout(timeoutMs);
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'], signal, killSignal: 'SIGKILL' });
    const output: Buffer[] = [];
    const errors: Buffer[] = [];
    let size = 0;
    const collect = (into: Buffer[]) => (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_OUTPUT_BYTES) child.kill('SIGKILL');
      else into.push(chunk);
    };
    child.stdout.on('data', collect(output));
    child.stderr.on('data', collect(errors));
    // A program that exits before reading all of its input reports the reason on standard error.
    child.stdin.on('error', () => {});
    child.on('error', (cause) => {
      const problem = signal.aborted
        ? `${program} did not end within ${timeoutMs / 1000} seconds`
        : `cannot run ${program}: ${cause.message}`;
      reject(new ProgramError(problem, program, undefined, { cause }));
    });
    child.once('close', (code, signal) => {
      if (code === 0) return resolve(Buffer.concat(output).toString());
      const stderr = Buffer.concat(errors).toString().trim().slice(0, 4096);
      reject(new ProgramError(`${program} failed: ${stderr || (signal ?? `exit code ${code}`)}`, program, code ?? undefined));
    });
    child.stdin.end(input ?? '');
  });
}
