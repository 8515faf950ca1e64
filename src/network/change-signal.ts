/** Coalesces any number of changes into one notification. */
export class ChangeSignal {
  #isRaised = false;
  #wake: (() => void) | undefined;

  raise(): void {
    this.#isRaised = true;
    this.#wake?.();
  }

  async next(): Promise<void> {
    if (!this.#isRaised) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#wake = undefined;
    this.#isRaised = false;
  }
}
