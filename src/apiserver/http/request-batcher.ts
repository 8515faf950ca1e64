/**
 * Runs concurrent requests step by step together. A request runs more code than fits into CPU caches; interleaving by step keeps each
 * step's code hot.
 */
export class RequestBatcher {
  #next: Promise<void> | undefined;
  #turn = 0;
  #afterwards: (() => void)[] = [];

  /** Increases with each event loop turn that serves requests. */
  get turn(): number {
    return this.#turn;
  }

  /** Resolves for all current callers when the arrived data is read. */
  next(): Promise<void> {
    this.#next ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#next = undefined;
        this.#turn++;
        resolve();
      });
      setImmediate(() => this.#callBack());
    });
    return this.#next;
  }

  /** Calls back in the next turn of the event loop, after the requests that arrive in it have taken their first steps. */
  afterNext(callback: () => void): void {
    this.#afterwards.push(callback);
    // Immediates run in order: those of requests read meanwhile run later in the same turn.
    setImmediate(() => {
      if (this.#next === undefined) this.#callBack();
    });
  }

  #callBack(): void {
    for (const callback of this.#afterwards.splice(0)) callback();
  }
}
