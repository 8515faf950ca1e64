import { type Clock, childSignal, type GrpcClient, type Logger } from '#base';
import type { Container, ContainerEvent, ContainerState, RuntimeService, Sandbox } from '../runtime.ts';
import { ChangeHints } from './change-hints.ts';

export interface WatchContainersOptions {
  readonly runtime: Pick<RuntimeService, 'listContainers' | 'listPodSandbox'>;
  readonly client: Pick<GrpcClient, 'serverStream'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal | undefined;
  readonly onRelist?: ((durationMs: number) => void) | undefined;
}

/** The relist interval without an event stream. */
const RELIST_MS = 1_000;
/** The relist interval with an event stream, in case it missed something. */
const SLOW_RELIST_MS = 10_000;
const FIRST_RELIST_MS = 50;
/** Debounces changes of many containers. */
const GAP_MS = 20;

interface Entry {
  readonly podUid: string;
  readonly state: ContainerState;
}

type Snapshot = ReadonlyMap<string, Entry>;

/**
 * Container events by comparing lists (as upstream's PLEG): every second, or on each hint of the runtime's event stream.
 * Nothing is missed while the runtime, its stream or this process is down. Ends when the signal aborts.
 */
export async function* watchContainers(options: WatchContainersOptions): AsyncGenerator<ContainerEvent> {
  const { runtime, client, clock, logger, signal, onRelist } = options;
  using ended = childSignal(signal);
  const hints = new ChangeHints(client, { clock, signal: ended.signal });
  let previous: Snapshot | undefined;
  let hasFailed = false;
  let waitMs = FIRST_RELIST_MS;
  try {
    while (!ended.signal.aborted) {
      hints.clear();
      try {
        const since = clock.monotonic();
        const current = await takeSnapshot(runtime, ended.signal);
        onRelist?.(clock.monotonic() - since);
        hasFailed = false;
        if (previous !== undefined) yield* differences(previous, current, clock.now());
        previous = current;
      } catch (error) {
        if (ended.signal.aborted) return;
        if (!hasFailed) logger.warn('could not list containers; trying again until the runtime answers', { error });
        hasFailed = true;
      }
      await clock.sleep(GAP_MS, ended.signal).catch(() => {});
      const longest = hints.areFlowing && !hasFailed ? SLOW_RELIST_MS : RELIST_MS;
      // Events may precede the change in lists: relist again shortly after an end.
      const hasEnded = await hints.wait(Math.min(waitMs, longest));
      waitMs = hasEnded ? FIRST_RELIST_MS : Math.min(waitMs * 2, longest);
    }
  } finally {
    ended.abort();
    await hints.done;
  }
}

async function takeSnapshot(runtime: WatchContainersOptions['runtime'], signal: AbortSignal): Promise<Snapshot> {
  const [containers, sandboxes] = await Promise.all([
    runtime.listContainers(undefined, { signal }),
    runtime.listPodSandbox(undefined, { signal }),
  ]);
  const snapshot = new Map<string, Entry>();
  for (const sandbox of sandboxes)
    snapshot.set(sandbox.id, { podUid: podUidOf(sandbox), state: sandbox.state === 'ready' ? 'running' : 'exited' });
  for (const container of containers) snapshot.set(container.id, { podUid: podUidOf(container), state: container.state });
  return snapshot;
}

function podUidOf({ labels }: Container | Sandbox): string {
  return labels['io.kubernetes.pod.uid'] ?? '';
}

function* differences(previous: Snapshot, current: Snapshot, createdAtMs: number): Generator<ContainerEvent> {
  for (const [containerId, { podUid, state }] of current) {
    for (const type of changesBetween(previous.get(containerId)?.state, state)) yield { type, containerId, podUid, createdAtMs };
  }
  for (const [containerId, { podUid, state }] of previous) {
    if (current.has(containerId)) continue;
    if (state === 'running') yield { type: 'stopped', containerId, podUid, createdAtMs };
    yield { type: 'deleted', containerId, podUid, createdAtMs };
  }
}

/** In lifecycle order; `unknown` counts as stopped. */
const STAGES = ['created', 'started', 'stopped'] as const;
const STAGE_OF: Readonly<Record<ContainerState, number>> = { created: 1, running: 2, exited: 3, unknown: 3 };

function changesBetween(before: ContainerState | undefined, after: ContainerState): readonly ContainerEvent['type'][] {
  return STAGES.slice(before === undefined ? 0 : STAGE_OF[before], STAGE_OF[after]);
}
