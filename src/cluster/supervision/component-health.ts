import { type ComponentChecks, componentChecks } from '#apiserver';
import type { Store } from '#store';
import type { SupervisedState } from './supervise.ts';

type PartName = 'controller-manager' | 'scheduler';

/** The health of control plane components in one process, reported by supervision: they have no health endpoints. */
export class ComponentHealth {
  readonly #parts = new Map<PartName, { readonly state: SupervisedState; readonly failure?: unknown }>();

  report(name: PartName, state: SupervisedState, failure?: unknown): void {
    this.#parts.set(name, { state, failure });
  }

  /** The checks behind `componentstatuses`. */
  checks(store: Store): ComponentChecks {
    return {
      ...componentChecks(store),
      'controller-manager': async () => this.#check('controller-manager'),
      scheduler: async () => this.#check('scheduler'),
    };
  }

  #check(name: PartName): string {
    const { state, failure } = this.#parts.get(name) ?? { state: 'starting' };
    if (state === 'ready') return 'ok';
    if (state === 'starting') throw new Error(`the ${name} is starting`);
    throw new Error(`the ${name} failed and will be started again: ${(failure as Error | undefined)?.message ?? 'it ended by itself'}`);
  }
}
