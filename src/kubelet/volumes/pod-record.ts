import type { core } from '#api';
import { type AsyncMutex, type Clock, childSignal, type TimerHandle } from '#base';
import { deepEqual } from '#machinery';
import type { PreparedVolume } from './container-volumes.ts';
import type { VolumeCount } from './pod-volumes.ts';
import type { MountedVolume, VolumePlugin, VolumeSpec } from './volume-plugin.ts';

const SEEN = 'kubernetes.io/config.seen';
const SOURCE = 'kubernetes.io/config.source';

export interface VolumeEntry {
  readonly spec: VolumeSpec;
  readonly plugin: VolumePlugin;
  /** The name of an attachable volume in node.status. */
  readonly attachedName: string | undefined;
  /** Serializes steps: a refresh must not overlap with the teardown. */
  readonly lock: AsyncMutex;
  mounted: MountedVolume | undefined;
}

export function volumeCounts(entries: readonly VolumeEntry[]): readonly VolumeCount[] {
  return [...new Set(entries.map(({ plugin }) => plugin.name))].sort().map((name) => {
    const own = entries.filter(({ plugin }) => plugin.name === name);
    return { plugin: name, total: own.length, mounted: own.filter(({ mounted }) => mounted !== undefined).length };
  });
}

/** The in-memory state of one pod's volumes. Mounts are tracked by the disk and the kernel. */
export class PodRecord {
  readonly entries = new Map<string, VolumeEntry>();
  readonly #waiters = new Set<() => void>();
  #timer: TimerHandle | undefined;
  isClosed = false;
  isRefreshing = false;
  /** Something changed during a refresh. */
  needsRefresh = false;

  #pod: core.Pod = { metadata: { name: '' } };
  #observed: core.Pod | undefined;

  constructor(private readonly clock: Clock) {}

  get uid(): string {
    return this.#pod.metadata.uid ?? '';
  }

  /** With the annotations that the kubelet adds, which volumes can show. */
  get pod(): core.Pod {
    return this.#pod;
  }

  /** Returns whether something changed that volumes can show. */
  observe(pod: core.Pod): boolean {
    const before = this.#observed;
    this.#observed = pod;
    if (before === pod) return false;
    const seen = this.#pod.metadata.annotations?.[SEEN] ?? nanosecondTime(this.clock.now());
    this.#pod = withAnnotations(pod, { [SEEN]: seen, [SOURCE]: 'api' });
    if (before === undefined) return false;
    return !deepEqual(shownParts(before), shownParts(pod));
  }

  prepared(name: string): PreparedVolume | undefined {
    const entry = this.entries.get(name);
    return entry?.mounted && { spec: entry.spec, mounted: entry.mounted };
  }

  /** A source of the volumes has changed: pending retries run now. */
  notify(): void {
    for (const wake of this.#waiters) wake();
  }

  /** Resolves after the delay, or when notified; rejects when the signal aborts. */
  async pause(delayMs: number, signal: AbortSignal): Promise<void> {
    const pause = childSignal(signal);
    const wake = () => pause.abort();
    this.#waiters.add(wake);
    try {
      await this.clock.sleep(delayMs, pause.signal);
    } catch {
      signal.throwIfAborted();
    } finally {
      this.#waiters.delete(wake);
      pause[Symbol.dispose]();
    }
  }

  /** Calls `fire` at the time, unless another timer is set in the meantime. */
  setTimer(atMs: number | undefined, fire: () => void): void {
    this.#timer?.cancel();
    this.#timer = atMs === undefined || this.isClosed ? undefined : this.clock.setTimer(Math.max(0, atMs - this.clock.now()), fire);
  }

  close(): void {
    this.isClosed = true;
    this.setTimer(undefined, () => {});
    this.notify();
  }
}

function shownParts({ metadata, spec }: core.Pod) {
  return { labels: metadata.labels ?? {}, annotations: metadata.annotations ?? {}, spec: spec ?? {} };
}

/** Static pods have them already. */
function withAnnotations(pod: core.Pod, annotations: Readonly<Record<string, string>>): core.Pod {
  return { ...pod, metadata: { ...pod.metadata, annotations: { ...annotations, ...pod.metadata.annotations } } };
}

/** Go's format of a time with a fraction: tools rely on the annotation's length. */
function nanosecondTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000001Z');
}
