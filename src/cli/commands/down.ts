import type { Command } from 'commander';
import { realClock } from '#base';
import { readRunning } from '#cluster';
import { addLocationOptions, directoryOf, type LocationOptions, locationFlags } from '../cluster-location.ts';
import type { CliContext } from '../context.ts';

const TIMEOUT_MS = 30_000;

export function configureDown(command: Command, context: CliContext): void {
  addLocationOptions(command).action((options: LocationOptions) => down(options, context));
}

/** Asks the cluster's process to stop, and waits until it has. */
export async function down(options: LocationOptions, context: CliContext): Promise<void> {
  const directory = directoryOf(options, context);
  const running = await readRunning(directory);
  if (running === undefined) {
    context.note(`Cluster '${options.name}' does not run.`);
    return;
  }
  const { pid } = running;
  askToStop(pid);
  const deadline = realClock.monotonic() + TIMEOUT_MS;
  while ((await readRunning(directory))?.pid === pid) {
    if (realClock.monotonic() > deadline) throw new Error(`process ${pid} does not stop; end it with: kill -9 ${pid}`);
    await realClock.sleep(20, context.signal);
  }
  context.note(`Cluster '${options.name}' has stopped; its data stays. Start it again with: sampan up${locationFlags(options)}`);
}

function askToStop(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EPERM') throw new Error(`the cluster is another user's (process ${pid}): stop it as that user`);
    // It has ended by itself meanwhile.
    if (code !== 'ESRCH') throw error;
  }
}
