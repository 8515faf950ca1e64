/** A volume that a node is to get. */
export interface Reservation {
  readonly nodeName: string;
  /** Reads from the API whether the volume is attached to the node: the caches may lag behind. */
  isAttached(): Promise<boolean>;
}

/** Volumes whose attachment is requested and not in the cache yet: no other node may get them meanwhile. */
export class AttachReservations {
  readonly #byVolume = new Map<string, Reservation>();

  nodeOf(volume: string): string | undefined {
    return this.#byVolume.get(volume)?.nodeName;
  }

  /** Synchronous, so that nothing happens between the decision to attach and the reservation. */
  reserve(volume: string, reservation: Reservation): void {
    this.#byVolume.set(volume, reservation);
  }

  /** Drops the reservations of a node for volumes that are in the cache, or that are neither desired nor attached there. */
  async release(nodeName: string, { cached, desired }: { cached: ReadonlySet<string>; desired: ReadonlySet<string> }): Promise<void> {
    for (const [volume, reservation] of [...this.#byVolume]) {
      if (reservation.nodeName !== nodeName) continue;
      if (cached.has(volume) || (!desired.has(volume) && !(await reservation.isAttached()))) this.#byVolume.delete(volume);
    }
  }
}
