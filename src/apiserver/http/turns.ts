/**
 * Lets requests that arrive together go through the server together, each step for all of them before the next. A request runs through more code
 * than a processor's caches hold; one after the other, each would find them full of the end of the one before.
 */
export class Turns {
  #next: Promise<void> | undefined;

  /** Resolves, for all who ask before it, when what has arrived by now has been read. */
  next(): Promise<void> {
    this.#next ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#next = undefined;
        resolve();
      });
    });
    return this.#next;
  }
}
