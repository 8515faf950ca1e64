import type { ClusterEvent } from '../framework/cluster-event.ts';

/** Events during scheduling and binding: a failed pod must not miss a change that occurred meanwhile. */
export class EventLog {
  readonly #starts = new Map<string, number>();
  #events: ClusterEvent[] = [];
  /** The position of the first kept event. */
  #first = 0;

  begin(uid: string): void {
    this.#starts.set(uid, this.#first + this.#events.length);
  }

  isInFlight(uid: string): boolean {
    return this.#starts.has(uid);
  }

  get inFlight(): number {
    return this.#starts.size;
  }

  record(event: ClusterEvent): void {
    if (this.#starts.size > 0) this.#events.push(event);
  }

  /** The events since `begin`. The pod is no longer in flight. */
  end(uid: string): readonly ClusterEvent[] {
    const start = this.#starts.get(uid);
    if (start === undefined) return [];
    this.#starts.delete(uid);
    const since = this.#events.slice(start - this.#first);
    this.#trim();
    return since;
  }

  /** As `end`, without collecting the events. */
  forget(uid: string): void {
    if (this.#starts.delete(uid)) this.#trim();
  }

  /** The map is in order of begin. */
  #trim(): void {
    const oldest = this.#starts.values().next().value ?? this.#first + this.#events.length;
    const unneeded = oldest - this.#first;
    // In batches: each removal moves all remaining events.
    if (unneeded < 1024 && oldest !== this.#first + this.#events.length) return;
    this.#events = this.#events.slice(unneeded);
    this.#first = oldest;
  }
}
