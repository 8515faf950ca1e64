import type { Command } from 'commander';
import { readSchedulerConfiguration, type SchedulerConfig, startScheduler } from '#scheduler';
import type { CliContext } from '../context.ts';
import { addFlags, settingsFromOptions } from '../flags/flag-table.ts';
import { SCHEDULER_FLAGS } from '../flags/scheduler-flags.ts';
import { addLeaderFlags, type LeaderFlags, leaderElectionOf } from '../leader-flags.ts';
import { addClientFlags, type ClientFlags, clientFrom, componentDeps, runUntilStopped } from '../run-component.ts';

type Options = ClientFlags & LeaderFlags & Record<string, unknown>;

export function configureScheduler(command: Command, context: CliContext): void {
  addFlags(addLeaderFlags(addClientFlags(command)), SCHEDULER_FLAGS).action((options: Options) => run(options, context));
}

/** What the command line says wins over the configuration. */
async function run(options: Options, context: CliContext): Promise<void> {
  const deps = componentDeps(context);
  const config = settingsFromOptions<SchedulerConfig>(SCHEDULER_FLAGS, options, { initial: {}, context });
  const { leaderElection: defaults, clientConnection } = readSchedulerConfiguration(config.configuration);
  const leaderElection = leaderElectionOf(options, defaults, deps.random);
  const { rateLimit } = clientConnection;
  await using client = await clientFrom({ ...clientConnection, ...options }, 'kube-scheduler', { context, deps, rateLimit });
  const scheduler = startScheduler({ ...config, ...(leaderElection && { leaderElection }) }, { ...deps, client }, context.signal);
  await runUntilStopped(scheduler, 'the scheduler', deps);
}
