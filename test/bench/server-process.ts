import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { realClock, systemRandom } from '#base';
import { createPki } from '#cluster';

/** The repository, for benchmarks that run from a bundle elsewhere: they are started there. */
const fromRoot = (file: string) => resolve(process.cwd(), file);

/** A token with all rights, accepted by every benchmark cluster. */
export const TOKEN = 'bench';

export interface ServerProcess extends AsyncDisposable {
  readonly pid: number;
  readonly port: number;
  /** From the start of the process until it reported to be ready. */
  readonly readyMs: number;
}

/** A directory that is removed at the end of the block. */
export function temporaryDirectory(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), 'sampan-bench-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/**
 * `sampan up` as users start it, from the built program, with the embedded durable store in this directory; in its own network namespace if
 * one is named.
 */
export async function startSampan(
  directory: string,
  args: readonly string[] = [],
  { namespace, log = join(directory, 'stderr.log') }: { readonly namespace?: string; readonly log?: string } = {},
): Promise<ServerProcess> {
  const tokens = join(directory, 'tokens.csv');
  writeFileSync(tokens, `${TOKEN},bench,1,"system:masters"\n`);
  const where = ['--data-dir', join(directory, 'data'), '--port', '0', '--no-merge', '--output', 'json'];
  const program = [
    fromRoot('dist/sampan.js'),
    'up',
    '--runtime',
    'simulated',
    ...where,
    '--apiserver-arg',
    `token-auth-file=${tokens}`,
    ...args,
  ];
  // A cluster of thousands of nodes logs many warnings, which are only of interest if it fails.
  const errors = openSync(log, 'w');
  const since = realClock.monotonic();
  const [command = '', ...rest] = [
    ...(namespace === undefined ? [] : ['nsenter', `--net=${namespace}`, '--']),
    process.execPath,
    ...program,
  ];
  const child = spawn(command, rest, { stdio: ['ignore', 'pipe', errors] });
  closeSync(errors);
  const { server, pid } = (await announced(child, log)) as { server: string; pid: number };
  return serverProcess(child, { pid, port: Number(new URL(server).port), readyMs: realClock.monotonic() - since });
}

/** A Node server that sends fixed bytes: the cost of TLS, HTTP and the driver alone. */
export function startTrivialServer(answers: object): Promise<ServerProcess> {
  return startScript('test/bench/trivial-server.mjs', answers);
}

/** The same over HTTP/2, with protobuf. */
export function startTrivialHttp2Server(answers: object): Promise<ServerProcess> {
  return startScript('test/bench/trivial-http2-server.mjs', answers);
}

/** A server that receives bytes over TLS, or sends them. */
export function startTlsPipe(bytes: number): Promise<ServerProcess> {
  return startScript('test/bench/tls-pipe.mjs', { bytes });
}

/** A server that stores what it receives, durably, and nothing else. */
export function startBareServer(directory: string, answers: object): Promise<ServerProcess> {
  return startScript('test/bench/bare-server.mjs', { ...answers, directory });
}

async function startScript(file: string, answers: object): Promise<ServerProcess> {
  const { serving } = await createPki({ names: { ipAddresses: ['127.0.0.1'] }, now: realClock.now(), random: systemRandom });
  const since = realClock.monotonic();
  const child = spawn(process.execPath, [fromRoot(file)], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(JSON.stringify({ key: serving.key, cert: serving.certificate, ...answers }));
  const { port } = (await announced(child)) as { port: number };
  return serverProcess(child, { pid: child.pid as number, port, readyMs: realClock.monotonic() - since });
}

/** The JSON that the child prints when it is ready, possibly in several lines. */
function announced(child: ChildProcess, log?: string): Promise<unknown> {
  return new Promise((resolve, failed) => {
    let text = '';
    const onExit = (code: number | null) =>
      failed(new Error(`${child.spawnargs.join(' ')} ended with ${code}\n${log ? readFileSync(log, 'utf8') : ''}`));
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk;
      const message = parsed(text);
      if (message === undefined) return;
      child.off('exit', onExit);
      resolve(message);
    });
    child.once('error', failed);
    child.once('exit', onExit);
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function serverProcess(child: ChildProcess, parts: Omit<ServerProcess, typeof Symbol.asyncDispose>): ServerProcess {
  return { ...parts, [Symbol.asyncDispose]: () => stop(child) };
}

export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((done) => child.once('exit', done));
  child.kill('SIGTERM');
  await ended;
}

/** The CPU time of a process so far, and its memory. */
export interface Usage {
  readonly cpuSeconds: number;
  readonly residentMiB: number;
  /** Without mapped files: the program, and pages of the data file, which the kernel reclaims when memory is short. */
  readonly ownMiB: number;
  readonly peakMiB: number;
}

/** Linux counts a process's time in hundredths of a second. */
const TICKS_PER_SECOND = 100;
/** Among the fields of /proc/PID/stat after the name: time in the program, time in the kernel. */
const USER_TIME = 11;
const SYSTEM_TIME = 12;

/** Needs /proc, so Linux. */
export function usageOf(pid: number): Usage {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mebibytes = (field: string) => Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024;
  return {
    cpuSeconds: (Number(fields[USER_TIME]) + Number(fields[SYSTEM_TIME])) / TICKS_PER_SECOND,
    residentMiB: mebibytes('VmRSS'),
    ownMiB: mebibytes('RssAnon'),
    peakMiB: mebibytes('VmHWM'),
  };
}
