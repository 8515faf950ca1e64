import { deepEqual, type JsonValue } from '#machinery';
import { type AdmissionAttributes, Reinvocation } from './admission.ts';

/** Which user-defined hooks of a plugin run again in the second round of a request. */
export class InvokedHooks {
  readonly reinvocation: Reinvocation;
  readonly #eligible = new Set<string>();
  readonly #reinvoke = new Set<string>();
  #lastOutput: JsonValue | undefined;

  constructor(reinvocation: Reinvocation) {
    this.reinvocation = reinvocation;
  }

  /** The state of this request, shared by both rounds. */
  static of(plugin: string, { reinvocation = new Reinvocation(), object }: AdmissionAttributes): InvokedHooks {
    const existing = reinvocation.remembered.get(plugin) as InvokedHooks | undefined;
    const hooks = existing ?? new InvokedHooks(reinvocation);
    reinvocation.remembered.set(plugin, hooks);
    if (reinvocation.isSecondRound && !deepEqual(hooks.#lastOutput, object as JsonValue | undefined)) hooks.#requireAgain();
    return hooks;
  }

  get isSecondRound(): boolean {
    return this.reinvocation.isSecondRound;
  }

  /** Whether the hook runs in this round. Hooks that did not run in the first round do not run in the second. */
  runs(key: string): boolean {
    return !this.isSecondRound || this.#reinvoke.has(key);
  }

  /** A hook changed the object: earlier hooks with reinvocation policy IfNeeded run again. */
  changed(): void {
    this.#requireAgain();
    this.reinvocation.isNeeded = true;
  }

  /** A hook with reinvocation policy IfNeeded. */
  remember(key: string): void {
    this.#eligible.add(key);
  }

  finish(output: unknown): void {
    this.#lastOutput = output as JsonValue | undefined;
  }

  #requireAgain(): void {
    for (const key of this.#eligible) this.#reinvoke.add(key);
    this.#eligible.clear();
  }
}
