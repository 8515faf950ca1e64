/** Upstream's smoothing coefficient. */
const SMOOTHING = 0.977;

export interface DemandStats {
  readonly highWatermark: number;
  readonly average: number;
  readonly deviation: number;
  readonly smoothed: number;
}

/** A level's seat demand, executing and waiting, over a period. */
export class SeatDemand {
  #current = 0;
  #since: number;
  #start: number;
  #high = 0;
  #sum = 0;
  #squares = 0;
  #smoothed = 0;

  constructor(nowMs: number) {
    this.#since = nowMs;
    this.#start = nowMs;
  }

  get smoothed(): number {
    return this.#smoothed;
  }

  set(seats: number, nowMs: number): void {
    this.#accumulate(nowMs);
    this.#current = seats;
    if (seats > this.#high) this.#high = seats;
  }

  /** Ends the period and starts the next. */
  period(nowMs: number): DemandStats {
    this.#accumulate(nowMs);
    const elapsed = nowMs - this.#start;
    const average = elapsed > 0 ? this.#sum / elapsed : this.#current;
    const variance = elapsed > 0 ? Math.max(this.#squares / elapsed - average * average, 0) : 0;
    const deviation = Math.sqrt(variance);
    const envelope = Math.min(average + deviation, this.#high);
    // Rises at once and decays slowly.
    this.#smoothed = Math.max(envelope, SMOOTHING * this.#smoothed + (1 - SMOOTHING) * envelope);
    const stats = { highWatermark: this.#high, average, deviation, smoothed: this.#smoothed };
    this.#high = this.#current;
    this.#sum = 0;
    this.#squares = 0;
    this.#start = nowMs;
    return stats;
  }

  #accumulate(nowMs: number): void {
    const elapsed = nowMs - this.#since;
    this.#sum += this.#current * elapsed;
    this.#squares += this.#current * this.#current * elapsed;
    this.#since = nowMs;
  }
}
