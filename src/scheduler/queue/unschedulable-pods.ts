import type { QueuedPod } from './queued-pod.ts';

/** Pods that wait for a change, grouped by the plugins that rejected them: most changes concern no plugin of most groups. */
export class UnschedulablePods {
  readonly #pods = new Map<string, QueuedPod>();
  readonly #groupOf = new Map<string, string>();
  readonly #groups = new Map<string, Map<string, QueuedPod>>();

  get size(): number {
    return this.#pods.size;
  }

  get(uid: string): QueuedPod | undefined {
    return this.#pods.get(uid);
  }

  values(): Iterable<QueuedPod> {
    return this.#pods.values();
  }

  /** Non-empty groups. Pods of a group have the same scheduler and were rejected by the same plugins. */
  groups(): Iterable<ReadonlyMap<string, QueuedPod>> {
    return this.#groups.values();
  }

  set(queued: QueuedPod): void {
    const { uid } = queued.info;
    this.delete(uid);
    const key = groupKey(queued);
    this.#pods.set(uid, queued);
    this.#groupOf.set(uid, key);
    const group = this.#groups.get(key);
    if (group === undefined) this.#groups.set(key, new Map([[uid, queued]]));
    else group.set(uid, queued);
  }

  delete(uid: string): void {
    const key = this.#groupOf.get(uid);
    if (key === undefined) return;
    this.#pods.delete(uid);
    this.#groupOf.delete(uid);
    const group = this.#groups.get(key);
    group?.delete(uid);
    if (group?.size === 0) this.#groups.delete(key);
  }
}

function groupKey({ info, rejectedBy, pendingOn }: QueuedPod): string {
  return [info.pod.spec?.schedulerName ?? '', ...[...rejectedBy].sort(), '', ...[...pendingOn].sort()].join('/');
}
