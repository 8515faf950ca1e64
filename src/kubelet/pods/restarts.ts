import type { core } from '#api';
import type { Clock } from '#base';
import { formatDurationMs } from '#machinery';
import type { WaitingReason } from '../status/container-statuses.ts';
import type { PodEvents } from './pod-events.ts';
import { type PodContainer, podText } from './pod-state.ts';
import type { RestartBackoff } from './restart-backoff.ts';
import type { StartFailure } from './start-failure.ts';

export interface RestartsDeps {
  readonly clock: Clock;
  readonly restartBackoff: RestartBackoff;
  readonly events: PodEvents;
  pod(): core.Pod;
}

const RETRY_MS = 10_000;
const NONE: ReadonlyMap<string, WaitingReason> = new Map();

/** The waiting reasons of a pod's containers, and their next attempts. */
export class Restarts {
  /** Created when a container fails, which few do. */
  #waiting: Map<string, WaitingReason> | undefined;
  #reportedBackoffs: Map<string, number> | undefined;

  constructor(private readonly deps: RestartsDeps) {}

  get waiting(): ReadonlyMap<string, WaitingReason> {
    return this.#waiting ?? NONE;
  }

  /** When an exited container may restart; undefined: now, which increases the next delay. */
  blockedUntil(container: core.Container, last: PodContainer): number | undefined {
    const { restartBackoff } = this.deps;
    const key = this.#keyOf(container);
    const endedMs = last.finishedAtMs ?? last.createdAtMs;
    const untilMs = restartBackoff.blockedUntil(key, endedMs);
    if (untilMs === undefined) restartBackoff.next(key, endedMs);
    else this.#report(container, endedMs);
    return untilMs;
  }

  /** Records why a container did not start. Returns when to retry. */
  failed({ name }: core.Container, failure: StartFailure): number {
    this.#wait(name, { reason: failure.reason, message: failure.message });
    return failure.retryAtMs ?? this.deps.clock.now() + RETRY_MS;
  }

  started({ name }: core.Container): void {
    this.#waiting?.delete(name);
  }

  #report(container: core.Container, endedMs: number): void {
    const { events, restartBackoff } = this.deps;
    const { name } = container;
    const pod = podText(this.deps.pod());
    this.#reportedBackoffs ??= new Map();
    if (this.#reportedBackoffs.get(name) !== endedMs)
      events.warning(name, 'BackOff', `Back-off restarting failed container ${name} in pod ${pod}`);
    this.#reportedBackoffs.set(name, endedMs);
    const delay = formatDurationMs(restartBackoff.delayMs(this.#keyOf(container)));
    this.#wait(name, { reason: 'CrashLoopBackOff', message: `back-off ${delay} restarting failed container=${name} pod=${pod}` });
  }

  #wait(name: string, reason: WaitingReason): void {
    this.#waiting ??= new Map();
    this.#waiting.set(name, reason);
  }

  #keyOf({ name, image }: core.Container): string {
    return `${this.deps.pod().metadata.uid}/${name}/${image}`;
  }
}
