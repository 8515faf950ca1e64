import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { realClock, silentLogger } from '#base';
import { privateContainerdOf, readRunning, runDirectoryOf } from '#cluster';
import { stopLeftovers } from '#kubelet';
import { addLocationOptions, directoryOf, type LocationOptions, locationFlags } from '../cluster-location.ts';
import type { CliContext } from '../context.ts';
import { runtimeSite } from '../runtime-site.ts';

const TIMEOUT_MS = 120_000;

export function configureDown(command: Command, context: CliContext): void {
  addLocationOptions(command).action(async (options: LocationOptions) => context.note(await stopCluster(options, context)));
}

/** Stops the cluster's process and waits until it has exited. Resolves to a sentence about the outcome. */
export async function stopCluster(options: LocationOptions, context: CliContext): Promise<string> {
  const directory = directoryOf(options, context);
  const running = await readRunning(directory);
  if (running === undefined) {
    const hasStopped = await stopLeftoverContainers(options, context);
    return `Cluster '${options.name}' does not run${hasStopped ? '; the containers that it had left were stopped' : ''}.`;
  }
  const { pid } = running;
  signalStop(pid);
  const deadline = realClock.monotonic() + TIMEOUT_MS;
  while ((await readRunning(directory))?.pid === pid) {
    if (realClock.monotonic() > deadline) throw new Error(`process ${pid} does not stop; end it with: kill -9 ${pid}`);
    await realClock.sleep(20, context.signal);
  }
  return `Cluster '${options.name}' has stopped; its data stays. Start it again with: sampan up${locationFlags(options)}`;
}

/** A killed cluster leaves its containers running for the next start. Resolves to whether there were any. */
async function stopLeftoverContainers(options: LocationOptions, context: CliContext): Promise<boolean> {
  const site = runtimeSite(options, context);
  if (!site.isRoot || !existsSync(runDirectoryOf(site.dataDirectory))) return false;
  await stopLeftovers(await privateContainerdOf(site), { clock: realClock, logger: silentLogger });
  return true;
}

function signalStop(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EPERM') throw new Error(`the cluster is another user's (process ${pid}): stop it as that user`);
    // It has exited in the meantime.
    if (code !== 'ESRCH') throw error;
  }
}
