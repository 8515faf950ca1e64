import { type ComponentChecks, componentChecks } from '#apiserver';
import type { Component } from '#base';
import type { Store } from '#store';

type PartName = 'controller-manager' | 'scheduler';
type Health = 'starting' | 'ready' | 'ended';

const UNWELL: Readonly<Record<Exclude<Health, 'ready'>, string>> = { starting: 'is starting', ended: 'has ended' };

/** How the parts of a control plane in one process are, asked of themselves: they serve no health endpoint that could be. */
export class PartHealth {
  readonly #parts = new Map<PartName, Health>();

  add(name: PartName, part: Component): void {
    this.#parts.set(name, 'starting');
    const become = (health: Health) => () => void this.#parts.set(name, health);
    part.ready.then(become('ready'), become('ended'));
    part.done.then(become('ended'), become('ended'));
  }

  /** What `componentstatuses` tells of. */
  checks(store: Store): ComponentChecks {
    return {
      ...componentChecks(store),
      'controller-manager': async () => this.#ask('controller-manager'),
      scheduler: async () => this.#ask('scheduler'),
    };
  }

  #ask(name: PartName): string {
    const health = this.#parts.get(name) ?? 'starting';
    if (health !== 'ready') throw new Error(`the ${name} ${UNWELL[health]}`);
    return 'ok';
  }
}
