import type { EventWrite } from './event-correlator.ts';

export type PendingWrite = Exclude<EventWrite, { type: 'skip' }>;

/** The events of one object that are written next, in order. */
export interface ObjectWrites {
  readonly objectKey: string;
  readonly writes: readonly PendingWrite[];
}

/** Events that wait to be written. Those of one object stay in order: `take` leaves an object out until `release`. */
export class EventQueue {
  readonly #pending = new Map<string, PendingWrite[]>();
  readonly #inFlight = new Set<string>();
  #size = 0;

  /** How many wait. */
  get size(): number {
    return this.#size;
  }

  push(write: PendingWrite): void {
    const { kind, namespace, name, uid } = write.event.involvedObject;
    const objectKey = `${kind}/${namespace}/${name}/${uid}`;
    const writes = this.#pending.get(objectKey);
    if (writes === undefined) this.#pending.set(objectKey, [write]);
    else writes.push(write);
    this.#size++;
  }

  /** The events of the object that waits longest. At most as many objects are passed over as are taken. */
  take(): ObjectWrites | undefined {
    for (const [objectKey, writes] of this.#pending) {
      if (this.#inFlight.has(objectKey)) continue;
      this.#pending.delete(objectKey);
      this.#inFlight.add(objectKey);
      this.#size -= writes.length;
      return { objectKey, writes };
    }
    return undefined;
  }

  release(objectKey: string): void {
    this.#inFlight.delete(objectKey);
  }
}
