import { deepEqual, type JsonValue } from '#machinery';
import { type AdmissionAttributes, Reinvocation } from './admission.ts';

/** What a plugin that runs hooks of users remembers of one request: which of them run again in a second round. */
export class InvokedHooks {
  readonly reinvocation: Reinvocation;
  readonly #eligible = new Set<string>();
  readonly #again = new Set<string>();
  #lastOutput: JsonValue | undefined;

  constructor(reinvocation: Reinvocation) {
    this.reinvocation = reinvocation;
  }

  /** Those of the request, from this round or the one before. */
  static of(plugin: string, { reinvocation = new Reinvocation(), object }: AdmissionAttributes): InvokedHooks {
    const known = reinvocation.remembered.get(plugin) as InvokedHooks | undefined;
    const hooks = known ?? new InvokedHooks(reinvocation);
    reinvocation.remembered.set(plugin, hooks);
    if (reinvocation.isSecondRound && !deepEqual(hooks.#lastOutput, object as JsonValue | undefined)) hooks.#requireAgain();
    return hooks;
  }

  get isSecondRound(): boolean {
    return this.reinvocation.isSecondRound;
  }

  /** Whether the hook runs in this round. In the second, none runs that did not run in the first. */
  runs(key: string): boolean {
    return !this.isSecondRound || this.#again.has(key);
  }

  /** A hook changed the object: all that ran before it and want to see changes run again. */
  changed(): void {
    this.#requireAgain();
    this.reinvocation.isNeeded = true;
  }

  /** A hook that wants to run again if the object changes after it. */
  remember(key: string): void {
    this.#eligible.add(key);
  }

  finish(output: unknown): void {
    this.#lastOutput = output as JsonValue | undefined;
  }

  #requireAgain(): void {
    for (const key of this.#eligible) this.#again.add(key);
    this.#eligible.clear();
  }
}
