import { type Clock, type Component, childSignal, type Logger, type MetricsRegistry, type Random, runComponent, waitForAbort } from '#base';
import { type Client, EventSink, InformerFactory, type LeaderElectionConfig, LeaderElector, type LeaderHealth } from '#client';
import { ClusterWatch } from './cluster-watch.ts';
import { readSchedulerConfiguration, type SchedulerConfiguration } from './config/scheduler-configuration.ts';
import { SchedulingLoop } from './scheduling-loop.ts';

export interface SchedulerConfig {
  /** A KubeSchedulerConfiguration, or undefined for the defaults. Checked before anything starts. */
  readonly configuration?: unknown;
  /** Absent: no other instance exists, and this one starts immediately. */
  readonly leaderElection?: LeaderElectionConfig;
  /** Names this instance in events. Default: the scheduler's name. */
  readonly instance?: string;
}

export interface SchedulerDeps {
  readonly client: Client;
  /** Informers that other components of the process share; their creator starts and stops them. */
  readonly informers?: InformerFactory;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricsRegistry;
  /** Observes leader election. */
  readonly leaderHealth?: LeaderHealth;
}

/** Places pods on nodes. Throws SchedulerConfigurationError when the configuration cannot be used. */
export function startScheduler(config: SchedulerConfig, deps: SchedulerDeps, signal?: AbortSignal): Component {
  const configuration = readSchedulerConfiguration(config.configuration);
  const { instance = configuration.profiles[0]?.schedulerName ?? '', leaderElection } = config;
  for (const setting of configuration.withoutEffect) deps.logger.warn('a setting of the scheduler has no effect', { setting });
  return runComponent(signal, async ({ signal: stopping, ready }) => {
    const run = { configuration, deps, instance, ready };
    if (leaderElection === undefined) return schedule({ ...run, signal: stopping });
    return configuration.delayCacheUntilActive
      ? contend(leaderElection, { ...run, signal: stopping })
      : withInformers({ ...run, signal: stopping }, (running) => contend(leaderElection, running));
  });
}

interface Run {
  readonly configuration: SchedulerConfiguration;
  readonly deps: SchedulerDeps;
  readonly instance: string;
  readonly signal: AbortSignal;
  readonly ready: () => void;
}

/** Schedules while this instance leads. */
async function contend(leaderElection: LeaderElectionConfig, { deps, signal, ready, ...run }: Run): Promise<void> {
  const events = new EventSink(deps, signal).recorder({ component: 'default-scheduler' });
  const elector = new LeaderElector(leaderElection, { ...deps, events });
  // A standby instance is healthy.
  ready();
  await elector.run(signal, (term) => schedule({ ...run, deps, ready, signal: term }));
}

async function schedule(run: Run): Promise<void> {
  await withInformers(run, async ({ configuration, instance, deps, informers, signal, ready }) => {
    const loop = new SchedulingLoop({ configuration, instance }, { ...deps, informers });
    try {
      ready();
      await loop.run(signal);
    } finally {
      await loop.stop();
    }
  });
}

/** Runs what needs a view of the cluster, once there is one. Shared informers are started and stopped by their owner. */
async function withInformers(run: Run, use: (run: Run & { readonly informers: InformerFactory }) => Promise<void>): Promise<void> {
  const { deps, signal } = run;
  using term = childSignal(signal);
  const own = deps.informers === undefined ? new InformerFactory(deps.client, deps) : undefined;
  const informers = deps.informers ?? own!;
  // Requests all kinds that scheduling depends on.
  new ClusterWatch(informers);
  own?.start(term.signal);
  try {
    await Promise.race([informers.synced(), waitForAbort(signal)]);
    if (!signal.aborted) await use({ ...run, deps: { ...deps, informers }, informers });
  } finally {
    term.abort(new DOMException('the scheduler was stopped', 'AbortError'));
    await own?.stop();
  }
}
