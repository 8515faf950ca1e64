/**
 * Runs concurrent requests step by step together. A request runs more code than fits into CPU caches; interleaving by step keeps each
 * step's code hot.
 */
export class RequestBatcher {
  #next: Promise<void> | undefined;
  #turn = 0;

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
    });
    return this.#next;
  }
}
