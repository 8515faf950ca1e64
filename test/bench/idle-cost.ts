import { spawn } from 'node:child_process';
import { realClock } from '#base';
import { startSampan, stop, temporaryDirectory, type Usage, usageOf } from './server-process.ts';

export interface IdleCost {
  readonly residentMiB: number;
  /** Of one core. */
  readonly cpuPercent: number;
}

/** Waits until deferred start-up work is done. */
const SETTLE_MS = 5_000;
export const IDLE_SECONDS = 20;

/** A cluster and a nearly idle Node process, measured over the same time. */
export async function runIdle(): Promise<{ sampan: IdleCost; node: IdleCost }> {
  using directory = temporaryDirectory();
  await using cluster = await startSampan(directory.path);
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  try {
    const pids = [cluster.pid, child.pid as number];
    await realClock.sleep(SETTLE_MS);
    const before = pids.map(usageOf);
    await realClock.sleep(IDLE_SECONDS * 1000);
    const [sampan, node] = pids.map((pid, i) => costBetween(before[i] as Usage, usageOf(pid)));
    return { sampan: sampan as IdleCost, node: node as IdleCost };
  } finally {
    await stop(child);
  }
}

function costBetween(before: Usage, after: Usage): IdleCost {
  return { residentMiB: after.residentMiB, cpuPercent: ((after.cpuSeconds - before.cpuSeconds) * 100) / IDLE_SECONDS };
}
