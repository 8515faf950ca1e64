import type { Command } from 'commander';
import { LeaderHealth } from '#client';
import { readSchedulerConfiguration, type SchedulerConfig, startScheduler } from '#scheduler';
import { serveComponent } from '../component-serving.ts';
import type { CliContext } from '../context.ts';
import { addLoggingFlags, type LoggingFlags } from '../flags/common-flags.ts';
import { addFlags, settingsFromOptions } from '../flags/flag-table.ts';
import { SCHEDULER_FLAGS } from '../flags/scheduler-flags.ts';
import { SERVING_FLAGS } from '../flags/serving-flags.ts';
import { addLeaderFlags, type LeaderFlags, leaderElectionOf } from '../leader-flags.ts';
import { addClientFlags, type ClientFlags, clientFrom, componentDeps, runUntilStopped } from '../run-component.ts';

type Options = ClientFlags & LeaderFlags & LoggingFlags & Record<string, unknown>;

export function configureScheduler(command: Command, context: CliContext): void {
  addLoggingFlags(addLeaderFlags(addClientFlags(command)));
  addFlags(addFlags(command, SERVING_FLAGS), SCHEDULER_FLAGS).action((options: Options) => run(options, context));
}

/** Flags take precedence over the configuration. */
async function run(options: Options, context: CliContext): Promise<void> {
  const deps = componentDeps(context, options);
  const config = settingsFromOptions<SchedulerConfig>(SCHEDULER_FLAGS, options, { initial: {}, context });
  const { leaderElection: defaults, clientConnection } = readSchedulerConfiguration(config.configuration);
  const leaderElection = leaderElectionOf(options, defaults, deps.random);
  const { rateLimit } = clientConnection;
  await using client = await clientFrom({ ...clientConnection, ...options }, 'kube-scheduler', { context, deps, rateLimit });
  const configuration = () => ({ 'kubescheduler.config.k8s.io': config.configuration ?? {} });
  const leaderHealth = new LeaderHealth();
  const served = { name: 'kube-scheduler', defaultPort: 10_259, client, configuration, leaderHealth };
  await using _server = await serveComponent(served, options, { context, deps });
  const scheduler = startScheduler(
    { ...config, ...(leaderElection && { leaderElection }) },
    { ...deps, client, leaderHealth },
    context.signal,
  );
  await runUntilStopped(scheduler, 'the scheduler', deps);
}
