import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, statSync } from 'node:fs';
import { realClock } from '#base';
import { type ClusterState, type DataDirectory, readState } from '#cluster';
import type { CliContext } from './context.ts';

const POLL_MS = 20;
/** Beyond the time that the cluster itself may wait. */
const MARGIN_MS = 60_000;

/** Runs the same command in the background; resolves when its cluster is ready. One that does not become ready is ended. */
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

/** Undefined when the process has ended instead. */
async function untilReady(
  child: ChildProcess,
  directory: DataDirectory,
  { deadline, signal }: { deadline: number; signal: AbortSignal },
): Promise<ClusterState | undefined> {
  let hasEnded = false;
  child.once('exit', () => {
    hasEnded = true;
  });
  while (!hasEnded) {
    const state = await readState(directory);
    if (state?.pid !== undefined && state.pid === child.pid) return state;
    if (realClock.monotonic() > deadline) throw new Error(`the cluster does not become ready; its log is ${directory.log}`);
    await realClock.sleep(POLL_MS, signal);
  }
  return undefined;
}

/** What the process said at its end, as if it had been said here. */
async function complaintOf(directory: DataDirectory, from: number): Promise<string> {
  const said = Buffer.from((await directory.read(directory.log)) ?? '')
    .subarray(from)
    .toString();
  const complaint = /^error: ([\s\S]*)/m.exec(said)?.[1]?.trimEnd();
  return complaint ?? `the cluster could not start; its log is ${directory.log}`;
}
