import type { Command } from 'commander';
import { realClock } from '#base';
import { readState } from '#cluster';
import { addLocationOptions, directoryOf, isRunning, type LocationOptions, locationFlags } from '../cluster-location.ts';
import type { CliContext } from '../context.ts';

const TIMEOUT_MS = 30_000;

export function configureDown(command: Command, context: CliContext): void {
  addLocationOptions(command).action((options: LocationOptions) => down(options, context));
}

/** Asks the cluster's process to stop, and waits until it has. */
export async function down(options: LocationOptions, context: CliContext): Promise<void> {
  const state = await readState(directoryOf(options, context));
  if (state?.pid === undefined || !isRunning(state.pid)) {
    context.note(`Cluster '${options.name}' does not run.`);
    return;
  }
  process.kill(state.pid, 'SIGTERM');
  const deadline = realClock.monotonic() + TIMEOUT_MS;
  while (isRunning(state.pid)) {
    if (realClock.monotonic() > deadline) throw new Error(`process ${state.pid} does not stop; end it with: kill -9 ${state.pid}`);
    await realClock.sleep(20, context.signal);
  }
  context.note(`Cluster '${options.name}' has stopped; its data stays. Start it again with: sampan up${locationFlags(options)}`);
}
