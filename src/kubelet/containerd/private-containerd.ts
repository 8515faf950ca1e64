import { access, mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { Backoff, type Clock, type Component, type ComponentScope, GrpcClient, type Logger, runComponent } from '#base';
import { GrpcRuntime } from '../cri/grpc/grpc-runtime.ts';
import { type ContainerdSettings, registryDirectory, renderContainerdConfig, socketOf } from './containerd-config.ts';
import {
  type ContainerdProcess,
  endContainerd,
  findRunning,
  isRunning,
  spawnContainerd,
  waitForEnd,
  waitUntilReady,
} from './containerd-process.ts';
import { importArchive } from './import-archive.ts';
import { killLeftoverProcesses } from './kill-leftover-processes.ts';
import { mayLowerOomScore, supportsOverlay } from './machine-programs.ts';
import { noStreaming } from './no-streaming.ts';
import { PAUSE_IMAGE, pauseArchive } from './pause-image.ts';
import type { Architecture } from './pause-program.ts';
import { stopSandboxes } from './stop-sandboxes.ts';

export interface PrivateContainerdConfig {
  /** Its images, layers, configuration, log and CNI directories. */
  readonly dataDirectory: string;
  /** Its sockets and container state, on a file system that is cleared by a reboot. */
  readonly runDirectory: string;
  readonly architecture: Architecture;
  /** Paths of the programs. */
  readonly containerd: string;
  readonly ociRuntime: string;
}

export interface PrivateContainerdDeps {
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface PrivateContainerd extends Component {
  /** `unix:///path` of its CRI socket, stable across restarts. */
  readonly endpoint: string;
}

export function endpointOf(config: Pick<PrivateContainerdConfig, 'runDirectory' | 'dataDirectory'>): string {
  return `unix://${socketOf(config)}`;
}

export function cniDirectories({ dataDirectory }: Pick<PrivateContainerdConfig, 'dataDirectory'>): {
  readonly bin: string;
  readonly conf: string;
} {
  return { bin: path.join(dataDirectory, 'cni', 'bin'), conf: path.join(dataDirectory, 'cni', 'net.d') };
}

/**
 * A containerd that belongs to one cluster and shares nothing with the machine's own. It is restarted when it exits; one that an earlier
 * process left running is adopted, with its containers. Stopping the component also stops the containers.
 */
export function startPrivateContainerd(
  config: PrivateContainerdConfig,
  deps: PrivateContainerdDeps,
  signal?: AbortSignal,
): PrivateContainerd {
  const component = runComponent(signal, (scope) => supervise(config, deps, scope));
  return {
    endpoint: endpointOf(config),
    ready: component.ready,
    done: component.done,
    [Symbol.asyncDispose]: () => component[Symbol.asyncDispose](),
  };
}

const BACKOFF = { initialMs: 500, maxMs: 30_000 };
/** After this uptime a restart resets the backoff. */
const STEADY_MS = 60_000;

async function supervise(config: PrivateContainerdConfig, deps: PrivateContainerdDeps, { signal, ready }: ComponentScope): Promise<void> {
  const { clock, logger } = deps;
  const backoff = new Backoff(BACKOFF);
  let current = await startOrAdopt(config, deps, signal);
  try {
    await ensurePauseImage(config, deps, signal);
    ready();
    for (;;) {
      const since = clock.monotonic();
      await waitForEnd(current, { clock, signal });
      if (signal.aborted) return;
      if (clock.monotonic() - since > STEADY_MS) backoff.reset();
      logger.warn('containerd ended; starting it again', { pid: current.pid });
      await clock.sleep(backoff.next(), signal);
      current = await restart(config, deps, { signal, backoff });
    }
  } finally {
    await stopEverything(config, deps, current);
  }
}

async function restart(
  config: PrivateContainerdConfig,
  deps: PrivateContainerdDeps,
  { signal, backoff }: { readonly signal: AbortSignal; readonly backoff: Backoff },
): Promise<ContainerdProcess> {
  for (;;) {
    try {
      return await startOrAdopt(config, deps, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      deps.logger.error('could not start containerd', { error });
      await deps.clock.sleep(backoff.next(), signal);
    }
  }
}

async function startOrAdopt(
  config: PrivateContainerdConfig,
  { clock }: PrivateContainerdDeps,
  signal?: AbortSignal,
): Promise<ContainerdProcess> {
  const settings = await settingsOf(config);
  const text = renderContainerdConfig(settings);
  const running = await findRunning(settings);
  if (running !== undefined && running.config === text) {
    await waitUntilReady(running, settings, { clock, signal });
    return running;
  }
  if (running !== undefined) await endContainerd(running, settings, clock);
  for (const directory of [settings.cniBinDirectory, settings.cniConfDirectory, registryDirectory(settings)])
    await mkdir(directory, { recursive: true });
  const process = await spawnContainerd(config.containerd, text, settings);
  try {
    await waitUntilReady(process, settings, { clock, signal });
    return process;
  } catch (error) {
    await endContainerd(process, settings, clock);
    throw error;
  }
}

async function settingsOf(config: PrivateContainerdConfig): Promise<ContainerdSettings> {
  const { dataDirectory, runDirectory, ociRuntime } = config;
  await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
  const { bin, conf } = cniDirectories(config);
  return {
    dataDirectory,
    runDirectory,
    ociRuntime,
    snapshotter: (await supportsOverlay(dataDirectory)) ? 'overlayfs' : 'native',
    restrictOomScoreAdj: !(await mayLowerOomScore()),
    sandboxImage: PAUSE_IMAGE,
    cniBinDirectory: bin,
    cniConfDirectory: conf,
  };
}

/** CRI discovers imported images asynchronously. */
async function ensurePauseImage(config: PrivateContainerdConfig, deps: PrivateContainerdDeps, signal: AbortSignal): Promise<void> {
  const endpoint = endpointOf(config);
  using runtime = new GrpcRuntime({ endpoint }, { ...deps, streaming: noStreaming });
  const image = { image: PAUSE_IMAGE };
  if ((await runtime.imageStatus(image, { signal })) !== undefined) return;
  using client = new GrpcClient({ endpoint, clock: deps.clock });
  const { architecture } = config;
  const archive = pauseArchive(architecture);
  await importArchive(client, chunks(archive), { architecture, now: deps.clock.now(), signal });
  while ((await runtime.imageStatus(image, { signal })) === undefined) await deps.clock.sleep(10, signal);
}

async function* chunks(archive: Buffer): AsyncGenerator<Buffer> {
  yield archive;
}

async function stopEverything(config: PrivateContainerdConfig, deps: PrivateContainerdDeps, current: ContainerdProcess): Promise<void> {
  const running = isRunning(current) ? current : await startOrAdopt(config, deps);
  using runtime = new GrpcRuntime({ endpoint: endpointOf(config) }, { ...deps, streaming: noStreaming });
  await stopSandboxes(runtime, deps.logger).catch((error: unknown) => deps.logger.warn('could not stop all containers', { error }));
  await endContainerd(running, config, deps.clock);
  await killLeftoverProcesses(config);
  await rm(config.runDirectory, { recursive: true, force: true });
}

/** Stops what a killed process left running, if anything. */
export async function stopLeftovers(config: PrivateContainerdConfig, deps: PrivateContainerdDeps): Promise<void> {
  if (!(await hasLeftovers(config))) return;
  await stopEverything(config, deps, await startOrAdopt(config, deps));
}

/** The run directory exists as long as containers may exist. */
function hasLeftovers({ runDirectory }: PrivateContainerdConfig): Promise<boolean> {
  return access(runDirectory).then(
    () => true,
    () => false,
  );
}
