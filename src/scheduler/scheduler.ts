import { type Clock, type Component, childSignal, type Logger, type MetricsRegistry, type Random, runComponent, whenAborted } from '#base';
import { type Client, EventSink, InformerFactory, type LeaderElectionConfig, LeaderElector } from '#client';
import { readSchedulerConfiguration, type SchedulerConfiguration } from './config/scheduler-configuration.ts';
import { SchedulingLoop } from './scheduling-loop.ts';

export interface SchedulerConfig {
  /** A KubeSchedulerConfiguration, or undefined for the defaults. Checked before anything starts. */
  readonly configuration?: unknown;
  /** Absent: no other instance exists, and this one begins at once. */
  readonly leaderElection?: LeaderElectionConfig;
  /** Names this instance in events. Default: the scheduler's name. */
  readonly instance?: string;
}

export interface SchedulerDeps {
  readonly client: Client;
  /** Informers that other components of the process share; whoever made them starts and stops them. */
  readonly informers?: InformerFactory;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricsRegistry;
}

/** Places pods on nodes. Throws SchedulerConfigurationError when the configuration cannot be used. */
export function startScheduler(config: SchedulerConfig, deps: SchedulerDeps, signal?: AbortSignal): Component {
  const configuration = readSchedulerConfiguration(config.configuration);
  const { instance = configuration.profiles[0]?.schedulerName ?? '' } = config;
  return runComponent(signal, async ({ signal: stopping, ready }) => {
    const run = { configuration, deps, instance, ready };
    if (config.leaderElection === undefined) return schedule({ ...run, signal: stopping });
    const events = new EventSink(deps, stopping).recorder({ component: 'default-scheduler' });
    const elector = new LeaderElector(config.leaderElection, { ...deps, events });
    // A candidate that waits for its turn does its work.
    ready();
    await elector.run(stopping, (term) => schedule({ ...run, signal: term }));
  });
}

interface Run {
  readonly configuration: SchedulerConfiguration;
  readonly deps: SchedulerDeps;
  readonly instance: string;
  readonly signal: AbortSignal;
  readonly ready: () => void;
}

async function schedule({ configuration, deps, instance, signal: parent, ready }: Run): Promise<void> {
  const { client, clock, random, logger } = deps;
  using term = childSignal(parent);
  const own = deps.informers === undefined ? new InformerFactory(client, { clock, random, logger }) : undefined;
  const informers = deps.informers ?? own!;
  const loop = new SchedulingLoop({ configuration, instance }, { ...deps, informers });
  own?.start(term.signal);
  try {
    await Promise.race([informers.synced(), whenAborted(parent)]);
    if (parent.aborted) return;
    ready();
    await loop.run(term.signal);
  } finally {
    await loop.stop();
    term.abort(new DOMException('the scheduler was stopped', 'AbortError'));
    await own?.stop();
  }
}
