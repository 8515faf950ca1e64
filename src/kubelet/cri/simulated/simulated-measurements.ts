import type { NodeMeasurements, NodeObservation, Observation, PodUse, PodUses } from '../../eviction/measurements.ts';
import type { Signal } from '../../eviction/thresholds.ts';

/** The available resources of a simulated machine, and the usage of its pods by `NAMESPACE/NAME`. */
export interface SimulatedUsage {
  readonly signals: Readonly<Partial<Record<Signal, Observation>>>;
  readonly pods?: Readonly<Record<string, Partial<PodUse>>>;
}

/** Measures nothing, at no cost, until a test sets the usage. */
export class SimulatedMeasurements implements NodeMeasurements {
  readonly started: Promise<void>;
  #begin: () => void = () => {};
  #usage: () => SimulatedUsage = () => ({ signals: {} });

  constructor() {
    this.started = new Promise((resolve) => {
      this.#begin = resolve;
    });
  }

  /** A function is called at each measurement. */
  set(usage: SimulatedUsage | (() => SimulatedUsage)): void {
    this.#usage = typeof usage === 'function' ? usage : () => usage;
    this.#begin();
  }

  async observe(): Promise<NodeObservation> {
    const entries = Object.entries(this.#usage().signals) as [Signal, Observation][];
    return { observations: new Map(entries), hasImageFs: false };
  }

  async podUses(pods: Parameters<NodeMeasurements['podUses']>[0]): Promise<PodUses> {
    const uses = new Map(Object.entries(this.#usage().pods ?? {}));
    return new Map(
      pods.flatMap(({ metadata: { namespace, name, uid = '' } }) => {
        const use = uses.get(`${namespace}/${name}`);
        return use === undefined ? [] : [[uid, { volumeBytes: 0, volumeInodes: 0, containers: [], ...use }] as const];
      }),
    );
  }

  async localStorageExcess(): Promise<undefined> {
    return undefined;
  }
}
