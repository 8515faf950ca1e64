import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, statSync } from 'node:fs';
import { realClock } from '#base';
import { type ClusterState, type DataDirectory, readState } from '#cluster';
import type { CliContext } from './context.ts';

const POLL_MS = 20;
/** Added to the cluster's own timeout. */
const MARGIN_MS = 60_000;

/** Runs the same command in the background; resolves when its cluster is ready. If it does not become ready it is stopped. */
export async function startDetached(directory: DataDirectory, waitMs: number, context: CliContext): Promise<ClusterState> {
  await directory.create();
  const log = openSync(directory.log, 'a', 0o600);
  const { size } = statSync(directory.log);
  const args = [...process.argv.slice(1), '--foreground'];
  const child = spawn(process.execPath, args, { detached: true, stdio: ['ignore', log, log], cwd: context.cwd });
  closeSync(log);
  try {
    const state = await untilReady(child, directory, { deadline: realClock.monotonic() + waitMs + MARGIN_MS, signal: context.signal });
    if (state !== undefined) return state;
  } catch (error) {
    child.kill('SIGTERM');
    throw error;
  } finally {
    child.unref();
  }
  throw new Error(await complaintOf(directory, size));
}

/** Undefined when the process has exited instead. */
async function untilReady(
  child: ChildProcess,
  directory: DataDirectory,
  { deadline, signal }: { deadline: number; signal: AbortSignal },
): Promise<ClusterState | undefined> {
  let hasEnded = false;
  let failure: Error | undefined;
  child.on('error', (error) => {
    failure = error;
  });
  child.once('exit', () => {
    hasEnded = true;
  });
  while (!hasEnded) {
    if (failure !== undefined) throw new Error(`the cluster could not be started: ${failure.message}`, { cause: failure });
    const state = await readState(directory);
    if (state?.pid !== undefined && state.pid === child.pid) return state;
    if (realClock.monotonic() > deadline) throw new Error(`the cluster does not become ready; its log is ${directory.log}`);
    await realClock.sleep(POLL_MS, signal);
  }
  return undefined;
}

/** The last lines of the process's log, for the error message. */
async function complaintOf(directory: DataDirectory, from: number): Promise<string> {
  const tail = Buffer.from((await directory.read(directory.log)) ?? '')
    .subarray(from)
    .toString();
  const errorText = /^error: ([\s\S]*)/m.exec(tail)?.[1]?.trimEnd();
  return errorText ?? `the cluster could not start; its log is ${directory.log}`;
}
