import { Backoff, type Clock, type Component, type Logger, type MetricsRegistry, type Random, raceAbort, runComponent } from '#base';

export type SupervisedState = 'starting' | 'ready' | 'failed';

export interface SupervisedPart {
  /** The component's name in logs, health and metrics. */
  readonly name: string;
  /** Called for each run. An error that it throws itself is a configuration error and final. */
  start(): Component;
  /** Called on each state change, with the failure if there was one. */
  onState?(state: SupervisedState, failure?: unknown): void;
}

export interface SupervisionDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricsRegistry;
}

const BACKOFF = { initialMs: 1000, maxMs: 60_000, jitter: 0.2 };
/** After this uptime a failure resets the backoff. */
const STABLE_MS = 300_000;

/**
 * Runs a component until the signal aborts. A component that fails or exits is restarted with backoff, without
 * affecting the others. Ready when the component is first ready.
 */
export function supervise(part: SupervisedPart, deps: SupervisionDeps, signal?: AbortSignal): Component {
  const { clock, logger, metrics, random } = deps;
  const restarts = metrics
    .counter({
      name: 'sampan_component_restarts_total',
      help: 'How often a part of the cluster failed and was started again.',
      labels: ['component'],
    })
    .with({ component: part.name });
  const backoff = new Backoff(BACKOFF, random);
  // The first run starts at once, so that bad settings reach the caller.
  let running = part.start();
  part.onState?.('starting');
  return runComponent(signal, async ({ signal: stopping, ready }) => {
    const onReady = () => {
      part.onState?.('ready');
      ready();
    };
    for (;;) {
      const begunMs = clock.monotonic();
      const failure = await runOnce(running, stopping, onReady);
      if (stopping.aborted) return;
      if (clock.monotonic() - begunMs >= STABLE_MS) backoff.reset();
      const delayMs = backoff.next();
      part.onState?.('failed', failure);
      logger.error('a component failed and will be restarted', {
        part: part.name,
        delayMs: Math.round(delayMs),
        error: failure,
      });
      await clock.sleep(delayMs, stopping);
      restarts.inc();
      running = part.start();
      part.onState?.('starting');
    }
  });
}

/** Resolves to the error that ended the component. */
async function runOnce(running: Component, stopping: AbortSignal, onReady: () => void): Promise<unknown> {
  let failure: unknown = new Error('it ended by itself');
  try {
    await raceAbort(running.ready, stopping);
    onReady();
    await raceAbort(running.done, stopping);
  } catch (error) {
    failure = error;
  }
  // The failure is already known.
  await running[Symbol.asyncDispose]().catch(() => {});
  return failure;
}
