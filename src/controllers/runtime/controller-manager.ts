import { type Clock, type Component, childSignal, type Logger, type MetricsRegistry, type Random, runComponent, waitForAbort } from '#base';
import { type Client, EventSink, InformerFactory, type LeaderElectionConfig, LeaderElector, type LeaderHealth } from '#client';
import { type ControllerOptions, DEFAULT_CONTROLLER_OPTIONS } from '../options.ts';
import { CONTROLLERS } from '../registry.ts';
import type { Controller, ControllerContext, RunningController } from './controller.ts';
import { enabledControllers } from './enabled-controllers.ts';

export interface ControllerManagerConfig {
  /** As `--controllers`. Default: `['*']`. */
  readonly controllers?: readonly string[];
  /** Undefined: no leader election. */
  readonly leaderElection?: LeaderElectionConfig;
  readonly options?: Partial<ControllerOptions>;
}

export interface ControllerManagerDeps {
  /** For informers, events and leader election. */
  readonly client: Client;
  /** A client with the identity of one controller. Default: `client`. */
  readonly clientFor?: (controller: string) => Client;
  /** Shared informers, started and stopped by their owner. */
  readonly informers?: InformerFactory;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricsRegistry;
  /** Reports the state of the leader election. */
  readonly leaderHealth?: LeaderHealth;
}

export function startControllerManager(config: ControllerManagerConfig, deps: ControllerManagerDeps, signal?: AbortSignal): Component {
  const enabled = enabledControllers(CONTROLLERS, config.controllers ?? ['*']);
  const options = { ...DEFAULT_CONTROLLER_OPTIONS, ...config.options };
  return runComponent(signal, async ({ signal: stopping, ready }) => {
    if (config.leaderElection === undefined) return runControllers(enabled, { deps, options, signal: stopping, ready });
    const events = new EventSink(deps, stopping).recorder({ component: 'kube-controller-manager' });
    const elector = new LeaderElector(config.leaderElection, { ...deps, events });
    // A standby candidate is ready.
    ready();
    await elector.run(stopping, (term) => runControllers(enabled, { deps, options, signal: term, ready }));
  });
}

interface Run {
  readonly deps: ControllerManagerDeps;
  readonly options: ControllerOptions;
  readonly signal: AbortSignal;
  readonly ready: () => void;
}

async function runControllers(controllers: readonly Controller[], run: Run): Promise<void> {
  const { deps, ready } = run;
  const { client, clock, random, logger, metrics } = deps;
  using term = childSignal(run.signal);
  const { signal } = term;
  const sink = new EventSink({ client, clock, random, logger }, signal);
  const recorder = sink.recorder({ component: 'kube-controller-manager' });
  const own = deps.informers === undefined ? new InformerFactory(client, { clock, random, logger, metrics, recorder }) : undefined;
  const informers = deps.informers ?? own!;
  const started = controllers.flatMap((controller) =>
    startOne(controller, contextOf(controller.name, { ...run, signal, informers, sink })),
  );
  own?.start(signal);
  let running: Promise<void>[] = [];
  try {
    await synced(informers, signal);
    if (signal.aborted) return;
    ready();
    running = started.map((controller) => runOne(controller, metrics));
    await Promise.all([...running, waitForAbort(signal)]);
  } finally {
    // A failing controller stops the manager, so that supervision restarts all of them.
    term.abort(new DOMException('the controllers were stopped', 'AbortError'));
    await Promise.allSettled(running);
    await own?.stop();
    await sink.flushed();
  }
}

interface SharedContext extends Run {
  readonly informers: InformerFactory;
  readonly sink: EventSink;
}

function contextOf(name: string, { deps, options, signal, informers, sink }: SharedContext): ControllerContext {
  const { client, clientFor = () => client, clock, random, logger, metrics } = deps;
  return {
    name,
    client: clientFor(name),
    informers,
    clock,
    random,
    logger: logger.child({ controller: name }),
    metrics,
    recorder: (component) => sink.recorder({ component }),
    options,
    signal,
  };
}

interface StartedController {
  readonly name: string;
  readonly running: RunningController;
}

function startOne({ name, start }: Controller, context: ControllerContext): readonly StartedController[] {
  const running = start(context);
  return running === undefined ? [] : [{ name, running }];
}

async function runOne({ name, running }: StartedController, metrics: MetricsRegistry): Promise<void> {
  const gauge = metrics
    .gauge({
      name: 'running_managed_controllers',
      help: 'Indicates where instances of a controller are currently running',
      labels: ['manager', 'name'],
    })
    .with({ manager: 'kube-controller-manager', name });
  gauge.set(1);
  try {
    await running.run();
  } finally {
    gauge.set(0);
  }
}

async function synced(informers: InformerFactory, signal: AbortSignal): Promise<void> {
  await Promise.race([informers.synced(), waitForAbort(signal)]).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}
