const MAX_SECONDS = 32;
/** Above this rate of rejections Retry-After grows. */
const MANY_A_SECOND = 3;

interface Second {
  readonly second: number;
  readonly rejected: number;
}

/** The Retry-After seconds: grows with the rejections, as upstream. */
export class RetryAfter {
  #history: Second[] = [];
  #second = 0;
  #rejected = 0;
  #seconds = 1;
  #changedAt = 0;

  get seconds(): number {
    return this.#seconds;
  }

  note(nowMs: number): void {
    const second = Math.floor(nowMs / 1000);
    if (second === this.#second) {
      this.#rejected++;
      return;
    }
    this.#history.push({ second: this.#second, rejected: this.#rejected });
    const oldest = this.#second - Math.min(2 * this.#seconds, MAX_SECONDS);
    this.#history = this.#history.filter((entry) => entry.second >= oldest);
    this.#second = second;
    this.#rejected = 1;
    this.#adjust(second);
  }

  #adjust(now: number): void {
    const recent = this.#history.filter(({ second }) => now - second <= this.#seconds && second < now);
    const rejected = recent.reduce((sum, entry) => sum + entry.rejected, 0);
    if (now - this.#changedAt >= this.#seconds && rejected >= MANY_A_SECOND * this.#seconds) {
      this.#seconds = Math.min(2 * this.#seconds, MAX_SECONDS);
      this.#changedAt = now;
    } else if (rejected < this.#seconds && this.#seconds > 1) this.#seconds--;
  }
}
