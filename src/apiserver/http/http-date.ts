import type { Clock } from '#base';

/** The value of the Date header, made once a second. */
export class HttpDate {
  #second = Number.NaN;
  #value = '';

  constructor(private readonly clock: Clock) {}

  get value(): string {
    const now = this.clock.now();
    const second = Math.floor(now / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#value = new Date(now).toUTCString();
    }
    return this.#value;
  }
}
