import type { core } from '#api';
import type { Clock } from '#base';
import type { PodContext } from './hooks/pod-hook.ts';
import { runHook } from './run-hook.ts';
import type { ContainerDeps } from './start-container.ts';

export interface KillRequest {
  readonly context: PodContext;
  readonly target: { readonly id: string; readonly name: string; readonly isRunning: boolean };
  readonly spec: core.Container | undefined;
  readonly podIp: string;
  readonly graceMs: number;
  readonly message?: string | undefined;
  /** Resolves when the containers that must stop first have exited; waiting consumes the grace period. */
  readonly turn?: Promise<void>;
}

export type KillDeps = Pick<ContainerDeps, 'runtime' | 'clock' | 'prober' | 'hooks'>;

/** How long a hook that outlasted the grace period may take to end after its container. */
const HOOK_END_MS = 1000;
/** The minimum grace period of a container. */
const MIN_GRACE_MS = 2000;

/** Runs the preStop hook and stops the container, both within the grace period. */
export async function killContainer(request: KillRequest, deps: KillDeps): Promise<void> {
  const { context, target, spec, graceMs, turn, message = `Stopping container ${target.name}` } = request;
  const { runtime, clock, hooks } = deps;
  context.events.normal(target.name, 'Killing', message);
  const begin = clock.monotonic();
  const hook = spec?.lifecycle?.preStop;
  if (spec !== undefined) await hooks.preStop({ ...context, container: spec, containerId: target.id });
  const afterStop = hook !== undefined && graceMs > 0 && target.isRunning ? await beforeStop(hook, request, deps) : undefined;
  const remaining = () => graceMs - (clock.monotonic() - begin);
  if (turn !== undefined && remaining() > 0) await untilTurn(turn, remaining(), clock);
  try {
    await runtime.stopContainer(target.id, Math.max(remaining(), MIN_GRACE_MS));
  } finally {
    await afterStop?.();
  }
}

async function untilTurn(turn: Promise<void>, limitMs: number, clock: Clock): Promise<void> {
  const stop = new AbortController();
  await Promise.race([turn, clock.sleep(limitMs, stop.signal).catch(() => {})]);
  stop.abort();
}

/**
 * Runs the hook within the grace period. As upstream, a slower one continues until its container ends, and then fails: the returned
 * function waits for that and must be called after the container was stopped.
 */
async function beforeStop(hook: core.LifecycleHandler, request: KillRequest, deps: KillDeps): Promise<() => Promise<void>> {
  const { context, target, spec, podIp, graceMs } = request;
  const { pod, events } = context;
  const { clock } = deps;
  const over = new AbortController();
  const probed = { containerId: target.id, container: spec ?? { name: target.name }, podIp, pod, events };
  const run = runHook(hook, probed, { ...deps, signal: over.signal }).catch(() => {
    if (!over.signal.aborted) events.warning(target.name, 'FailedPreStopHook', 'PreStopHook failed');
  });
  await untilTurn(run, graceMs, clock);
  // Nothing of it can be seen any more.
  if (hook.sleep !== undefined) over.abort();
  return async () => {
    await untilTurn(run, HOOK_END_MS, clock);
    over.abort();
  };
}
