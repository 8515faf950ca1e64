import type { Clock, TimerHandle } from '#base';

/** The nodes of a zone that are waiting for their NoExecute taint, limited by the zone's rate. */
export class ZoneEvictions {
  readonly #waiting = new Set<string>();
  #nextAt = -Infinity;
  #timer: TimerHandle | undefined;

  constructor(
    private readonly clock: Clock,
    private rate: number,
    private readonly evict: (node: string) => void,
  ) {}

  add(node: string): void {
    this.#waiting.add(node);
  }

  remove(node: string): void {
    this.#waiting.delete(node);
  }

  /** Nodes per second; 0 stops evictions. */
  setRate(rate: number): void {
    if (rate === this.rate) return;
    const now = this.clock.monotonic();
    const isWaiting = this.rate === 0 || this.#nextAt > now;
    this.rate = rate;
    // A pending eviction waits for the new interval: a rate change does not trigger one.
    if (isWaiting) this.#nextAt = now + this.#intervalMs;
    this.stop();
  }

  /** Evicts the next node, now or as soon as the rate allows. */
  start(): void {
    if (this.#timer !== undefined || this.#waiting.size === 0 || this.rate === 0) return;
    const wait = this.#nextAt - this.clock.monotonic();
    if (wait > 0) {
      this.#timer = this.clock.setTimer(wait, () => {
        this.#timer = undefined;
        this.start();
      });
      return;
    }
    const [node] = this.#waiting;
    this.#waiting.delete(node!);
    this.#nextAt = this.clock.monotonic() + this.#intervalMs;
    this.evict(node!);
    this.start();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  get #intervalMs(): number {
    return 1000 / this.rate;
  }
}
