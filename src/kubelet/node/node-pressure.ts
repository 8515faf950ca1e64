/** The pressure conditions of the node. */
export interface NodePressure {
  readonly memory: boolean;
  readonly disk: boolean;
  readonly pid: boolean;
}

/** Holds the pressure conditions, set by measurements and read by the node reporter. */
export class PressureState {
  #value: NodePressure = { memory: false, disk: false, pid: false };
  readonly #listeners = new Set<() => void>();

  get value(): NodePressure {
    return this.#value;
  }

  set(change: Partial<NodePressure>): void {
    this.#value = { ...this.#value, ...change };
    for (const listener of this.#listeners) listener();
  }

  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }
}
