import type { apps, batch, core, policy } from '#api';
import type { Clock } from '#base';
import type { Store, WatchEvent } from '#store';

/** One write in the store: the previous state and the new one. */
export interface Change<T = unknown> {
  readonly revision: number;
  readonly key: string;
  readonly now: number;
  readonly before: T | undefined;
  readonly after: T | undefined;
}

export interface ObservedKinds {
  pods: core.Pod;
  replicasets: apps.ReplicaSet;
  deployments: apps.Deployment;
  statefulsets: apps.StatefulSet;
  daemonsets: apps.DaemonSet;
  jobs: batch.Job;
  poddisruptionbudgets: policy.PodDisruptionBudget;
}

type Looks = { readonly [K in keyof ObservedKinds]?: (change: Change<ObservedKinds[K]>) => void };

/** Everything ever written, read from the store itself, revision by revision, so that no cache can hide anything. */
export class ObservedState implements Disposable {
  readonly #objects = new Map<string, Map<string, unknown>>();
  readonly #watch: Disposable;
  /** `revision key` of every write, in order: two runs with equal ones are the same. */
  readonly writes: string[] = [];
  #looks: Looks = {};

  constructor(
    store: Store,
    private readonly clock: Clock,
    private readonly trace: (change: Change) => void = () => {},
  ) {
    this.#watch = store.watch(
      { prefix: '/registry/', fromRevision: 1 },
      { events: (batch) => void batch.map((event) => this.#apply(event)), progress() {}, end() {} },
    );
  }

  /** Called for each write from now on, before the next one is applied. */
  look(looks: Looks): void {
    this.#looks = looks;
  }

  all<K extends keyof ObservedKinds>(kind: K): readonly ObservedKinds[K][] {
    return [...(this.#objects.get(kind)?.values() ?? [])] as ObservedKinds[K][];
  }

  [Symbol.dispose](): void {
    this.#watch[Symbol.dispose]();
  }

  #apply(event: WatchEvent): void {
    const { key, modRevision: revision } = event;
    this.writes.push(`${revision} ${event.type} ${key}`);
    const [, , kind = ''] = key.split('/');
    const objects = this.#objects.get(kind) ?? new Map<string, unknown>();
    this.#objects.set(kind, objects);
    const before = objects.get(key);
    const after: unknown = event.type === 'put' ? JSON.parse(Buffer.from(event.value ?? []).toString()) : undefined;
    if (after === undefined) objects.delete(key);
    else objects.set(key, after);
    this.trace({ revision, key, now: this.clock.now(), before, after });
    const look = (this.#looks as Record<string, ((change: Change<never>) => void) | undefined>)[kind];
    look?.({ revision, key, now: this.clock.now(), before, after } as Change<never>);
  }
}

/** The history of a number: a component that lags behind may act on an older value. */
export class RecentValues {
  readonly #values: { readonly at: number; readonly value: number }[] = [];

  constructor(private readonly windowMs: number) {}

  set(value: number, at: number): void {
    if (this.#values.at(-1)?.value !== value) this.#values.push({ at, value });
  }

  highest(now: number): number {
    return Math.max(...this.#recent(now));
  }

  lowest(now: number): number {
    return Math.min(...this.#recent(now));
  }

  #recent(now: number): readonly number[] {
    const first = this.#values.findLastIndex(({ at }) => at <= now - this.windowMs);
    return this.#values.slice(Math.max(first, 0)).map(({ value }) => value);
  }
}
