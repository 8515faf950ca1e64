import type { Command } from 'commander';
import { type SchedulerConfig, startScheduler } from '#scheduler';
import type { CliContext } from '../context.ts';
import { addFlags, settingsFromOptions } from '../flags/flag-table.ts';
import { SCHEDULER_FLAGS } from '../flags/scheduler-flags.ts';
import {
  addClientFlags,
  addLeaderFlags,
  type ClientFlags,
  clientFrom,
  componentDeps,
  type LeaderFlags,
  leaderElectionOf,
  runUntilStopped,
} from '../run-component.ts';

type Options = ClientFlags & LeaderFlags & Record<string, unknown>;

export function configureScheduler(command: Command, context: CliContext): void {
  addFlags(addLeaderFlags(addClientFlags(command)), SCHEDULER_FLAGS).action(async (options: Options) => {
    const deps = componentDeps(context);
    const config = settingsFromOptions<SchedulerConfig>(SCHEDULER_FLAGS, options, { initial: {}, context });
    const leaderElection = leaderElectionOf(options, 'kube-scheduler', deps);
    await using client = await clientFrom(options, 'kube-scheduler', { context, deps });
    const scheduler = startScheduler({ ...config, ...(leaderElection && { leaderElection }) }, { ...deps, client }, context.signal);
    await runUntilStopped(scheduler, 'the scheduler', deps);
  });
}
