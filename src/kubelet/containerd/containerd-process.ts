import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type Clock, childSignal, GrpcClient, isSameProcess, processIdentity } from '#base';
import { runtimeService } from '../cri/grpc/methods.ts';
import { version } from './api.ts';
import type { ContainerdPaths } from './containerd-config.ts';
import { socketOf } from './containerd-config.ts';

/** A running containerd, started by this process or an earlier one. */
export interface ContainerdProcess {
  readonly pid: number;
  readonly identity: string | undefined;
  /** Present when it is a child of this process, which is notified when it exits. */
  readonly child?: ChildProcess;
}

interface ProcessRecord {
  readonly pid: number;
  readonly identity?: string;
  /** The configuration it was started with. */
  readonly config: string;
}

const READY_MS = 20_000;
const ANSWER_MS = 2_000;
const POLL_MS = 20;
const LIVENESS_MS = 1_000;
const STOP_MS = 10_000;
const MAX_LOG_BYTES = 10 << 20;

export function logOf({ dataDirectory }: ContainerdPaths): string {
  return path.join(dataDirectory, 'containerd.log');
}

function recordOf({ runDirectory }: ContainerdPaths): string {
  return path.join(runDirectory, 'containerd.json');
}

/** The containerd of an earlier process that still runs in these directories, if any. */
export async function findRunning(paths: ContainerdPaths): Promise<(ContainerdProcess & { readonly config: string }) | undefined> {
  const text = await readFile(recordOf(paths), 'utf8').catch(() => undefined);
  const recorded = text === undefined ? undefined : parseRecord(text);
  if (recorded === undefined || !isSameProcess(recorded.pid, recorded.identity)) return undefined;
  return { pid: recorded.pid, identity: recorded.identity, config: recorded.config };
}

function parseRecord(text: string): ProcessRecord | undefined {
  try {
    const { pid, identity, config } = JSON.parse(text) as Partial<ProcessRecord>;
    const isValid = Number.isSafeInteger(pid) && typeof config === 'string' && (identity === undefined || typeof identity === 'string');
    return isValid ? (JSON.parse(text) as ProcessRecord) : undefined;
  } catch {
    return undefined;
  }
}

/** Starts containerd in its own session: it and its containers survive when this process is killed. */
export async function spawnContainerd(program: string, config: string, paths: ContainerdPaths): Promise<ContainerdProcess> {
  const { dataDirectory, runDirectory } = paths;
  for (const directory of [dataDirectory, runDirectory]) await mkdir(directory, { recursive: true, mode: 0o700 });
  await rotate(logOf(paths));
  const file = path.join(dataDirectory, 'config.toml');
  await writeFile(file, config, { mode: 0o600 });
  const log = openSync(logOf(paths), 'a', 0o600);
  try {
    const child = spawn(program, ['--config', file, '--log-level', 'warn'], { detached: true, stdio: ['ignore', log, log], cwd: '/' });
    const { pid } = await started(child, program);
    // It must not keep this process alive; its exit event still arrives.
    child.unref();
    const identity = processIdentity(pid);
    const record: ProcessRecord = { pid, ...(identity !== undefined && { identity }), config };
    await writeFile(recordOf(paths), JSON.stringify(record), { mode: 0o600 });
    return { pid, identity, child };
  } finally {
    closeSync(log);
  }
}

function started(child: ChildProcess, program: string): Promise<{ readonly pid: number }> {
  return new Promise((resolve, reject) => {
    child.on('error', (cause) => reject(new Error(`could not start ${program}: ${cause.message}`, { cause })));
    child.once('spawn', () => resolve({ pid: child.pid! }));
  });
}

async function rotate(file: string): Promise<void> {
  const size = await stat(file).then(
    (stats) => stats.size,
    () => 0,
  );
  if (size > MAX_LOG_BYTES) await rename(file, `${file}.1`);
}

/** Resolves when its API responds; rejects when it exits or times out. */
export async function waitUntilReady(process: ContainerdProcess, paths: ContainerdPaths, { clock, signal }: WaitOptions): Promise<void> {
  const deadline = clock.monotonic() + READY_MS;
  for (;;) {
    signal?.throwIfAborted();
    if (await answers(socketOf(paths), clock)) return;
    if (!isRunning(process)) throw new Error(`containerd ended at its start: ${await lastWords(paths)}`);
    if (clock.monotonic() > deadline) throw new Error(`containerd does not answer; its log is ${logOf(paths)}`);
    await clock.sleep(POLL_MS, signal);
  }
}

interface WaitOptions {
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
}

async function answers(socket: string, clock: Clock): Promise<boolean> {
  using client = new GrpcClient({ endpoint: `unix://${socket}`, clock });
  try {
    await client.unary(version, {}, { timeoutMs: ANSWER_MS });
    // The CRI plugin starts later: it first recovers the existing containers.
    await client.unary(runtimeService.version, {}, { timeoutMs: ANSWER_MS });
    return true;
  } catch {
    return false;
  }
}

/** The last error in its log, for error messages. */
async function lastWords(paths: ContainerdPaths): Promise<string> {
  const log = await readFile(logOf(paths), 'utf8').catch(() => '');
  const lines = log.trimEnd().split('\n').slice(-20);
  const line = lines.findLast((text) => /level=(?:fatal|error)|^containerd:/.test(text)) ?? lines.at(-1);
  return `${line?.slice(0, 500) ?? ''} (log: ${logOf(paths)})`;
}

export function isRunning({ pid, identity, child }: ContainerdProcess): boolean {
  if (child !== undefined && (child.exitCode !== null || child.signalCode !== null)) return false;
  return isSameProcess(pid, identity);
}

/** Resolves when it exits, or the signal aborts. */
export async function waitForEnd(process: ContainerdProcess, { clock, signal }: WaitOptions): Promise<void> {
  using ended = childSignal(signal);
  const onExit = () => ended.abort();
  process.child?.once('exit', onExit);
  while (isRunning(process) && !ended.signal.aborted) await clock.sleep(LIVENESS_MS, ended.signal).catch(() => {});
  process.child?.off('exit', onExit);
}

/** Stops containerd itself; containers keep running. */
export async function endContainerd(process: ContainerdProcess, paths: ContainerdPaths, clock: Clock): Promise<void> {
  for (const name of ['SIGTERM', 'SIGKILL'] as const) {
    if (isRunning(process)) kill(process.pid, name);
    const deadline = clock.monotonic() + STOP_MS;
    while (isRunning(process) && clock.monotonic() < deadline) await clock.sleep(POLL_MS);
  }
  if (isRunning(process)) throw new Error(`containerd (process ${process.pid}) does not end`);
  await rm(recordOf(paths), { force: true });
}

function kill(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
