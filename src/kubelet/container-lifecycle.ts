import type { core } from '#api';
import { type Clock, raceAbort } from '#base';
import type { ContainerConfig, ContainerRuntime, ContainerStatus, SandboxStatus } from './cri/runtime.ts';
import { ensureImage, type FailedPull } from './images/ensure-image.ts';
import type { PodEvents } from './pod-events.ts';
import type { RestartBackoff } from './restart-backoff.ts';
import { runHook } from './run-hook.ts';
import { StartFailure } from './start-failure.ts';

export interface ContainerDeps {
  readonly runtime: ContainerRuntime;
  readonly clock: Clock;
  readonly imageBackoff: RestartBackoff;
  readonly failedPulls: Map<string, FailedPull>;
  /** The variables of a container, with what they refer to. Throws a StartFailure when that is missing. */
  environment(pod: core.Pod, container: core.Container, podIps: readonly string[]): Promise<ContainerConfig['env']>;
}

export interface StartRequest {
  readonly pod: core.Pod;
  readonly container: core.Container;
  readonly attempt: number;
  readonly sandbox: SandboxStatus;
  readonly events: PodEvents;
  readonly signal: AbortSignal;
}

/** Tells whether a container is still what its pod asks for. Of a container's fields only the image can change in place. */
export function specHash({ image = '' }: core.Container): string {
  return image;
}

/** Pulls, creates and starts a container, with upstream's events. Throws a StartFailure, or the signal's reason. */
export async function startContainer(request: StartRequest, deps: ContainerDeps): Promise<void> {
  const { pod, container, sandbox, events, signal } = request;
  const { runtime, clock } = deps;
  const pulling = { container, sandbox: sandbox.config, events, signal };
  const images = { runtime, clock, backoff: deps.imageBackoff, lastErrors: deps.failedPulls };
  const image = await ensureImage(pulling, images);
  const env = await deps.environment(pod, container, sandbox.ips);
  signal.throwIfAborted();
  const id = await create({ ...request, env, imageRef: image.ref }, runtime);
  events.normal(container.name, 'Created', 'Container created');
  try {
    await raceAbort(runtime.startContainer(id), signal);
  } catch (error) {
    signal.throwIfAborted();
    events.warning(container.name, 'Failed', `Error: ${(error as Error).message}`);
    throw new StartFailure('RunContainerError', (error as Error).message);
  }
  events.normal(container.name, 'Started', 'Container started');
  await afterStart(id, request, deps);
}

async function create(
  request: StartRequest & { env: ContainerConfig['env']; imageRef: string },
  runtime: ContainerRuntime,
): Promise<string> {
  const { container, attempt, sandbox, events, env, imageRef } = request;
  const { name, image = '', command = [], args = [], workingDir, tty = false, stdin = false } = container;
  const config = { name, attempt, image, imageRef, command, args, env, specHash: specHash(container), tty, stdin };
  try {
    return await runtime.createContainer(sandbox.id, { ...config, ...(workingDir && { workingDir }) });
  } catch (error) {
    events.warning(name, 'Failed', `Error: ${(error as Error).message}`);
    throw new StartFailure('CreateContainerError', (error as Error).message);
  }
}

async function afterStart(id: string, { container, sandbox, events, signal }: StartRequest, deps: ContainerDeps): Promise<void> {
  const hook = container.lifecycle?.postStart;
  if (hook === undefined) return;
  try {
    const target = { containerId: id, container, podIp: sandbox.ips[0] ?? '' };
    await raceAbort(runHook(hook, target, { ...deps, signal }), signal);
  } catch (error) {
    signal.throwIfAborted();
    events.warning(container.name, 'FailedPostStartHook', 'PostStartHook failed');
    events.normal(container.name, 'Killing', 'FailedPostStartHook');
    await deps.runtime.stopContainer(id, 2000);
    throw new StartFailure('PostStartHookError', (error as Error).message);
  }
}

export interface KillRequest {
  readonly container: ContainerStatus;
  readonly spec: core.Container | undefined;
  readonly podIp: string;
  readonly graceMs: number;
  readonly message?: string;
  readonly events: PodEvents;
}

/** However short the time, a container is given this much after its hook. */
const MIN_GRACE_MS = 2000;

/** Runs the preStop hook and ends the container, both within the grace period. */
export async function killContainer(request: KillRequest, deps: Pick<ContainerDeps, 'runtime' | 'clock'>): Promise<void> {
  const { container, spec, graceMs, events, message = `Stopping container ${container.name}` } = request;
  const { runtime, clock } = deps;
  events.normal(container.name, 'Killing', message);
  const begin = clock.monotonic();
  const hook = spec?.lifecycle?.preStop;
  if (hook !== undefined && graceMs > 0 && container.state === 'running') await beforeStop(hook, request, deps);
  const left = graceMs - (clock.monotonic() - begin);
  await runtime.stopContainer(container.id, graceMs > 0 ? Math.max(left, hook === undefined ? left : MIN_GRACE_MS) : 0);
}

async function beforeStop(
  hook: core.LifecycleHandler,
  request: KillRequest,
  deps: Pick<ContainerDeps, 'runtime' | 'clock'>,
): Promise<void> {
  const { container, spec, podIp, graceMs, events } = request;
  const limit = new AbortController();
  const timer = deps.clock.setTimer(graceMs, () => limit.abort());
  try {
    const target = { containerId: container.id, container: spec ?? { name: container.name }, podIp };
    await raceAbort(runHook(hook, target, { ...deps, signal: limit.signal }), limit.signal);
  } catch {
    if (!limit.signal.aborted) events.warning(container.name, 'FailedPreStopHook', 'PreStopHook failed');
  } finally {
    timer.cancel();
  }
}
