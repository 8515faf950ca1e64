import type { core } from '#api';
import { type EventRecorder, keyOf, type Lister } from '#client';
import type { TypeHints } from './reconcile.ts';
import { isOverloaded } from './zone-allocation.ts';
import { type ZoneShares, zoneShares } from './zone-shares.ts';

type Hints = Exclude<TypeHints['result'], string>;

/** Services with topology hints, and the CPU shares of zones. */
export class HintedServices {
  /** By the service's key, then by address type. */
  readonly #hints = new Map<string, ReadonlyMap<string, Hints>>();
  #shares: { readonly current: ZoneShares | undefined } | undefined;

  constructor(
    private readonly nodes: Lister<core.Node>,
    private readonly events: EventRecorder,
  ) {}

  get shares(): ZoneShares | undefined {
    this.#shares ??= { current: zoneShares(this.nodes.list()) };
    return this.#shares.current;
  }

  /** Nodes changed. Returns the keys of services to recalculate. */
  sharesChanged(): readonly string[] {
    this.#shares = undefined;
    const hinted = [...this.#hints];
    return hinted.filter(([, types]) => [...types.values()].some((hints) => isOverloaded(hints, this.shares))).map(([key]) => key);
  }

  forget(key: string): void {
    this.#hints.delete(key);
  }

  /** Stores the hints of a service and records events when they are added, removed or impossible. */
  update(service: core.Service, types: readonly TypeHints[]): void {
    const key = keyOf(service);
    const current = this.#hints.get(key);
    if (types.length === 0) {
      for (const type of current?.keys() ?? []) this.#disabled(service, 'Topology Aware Hints has been disabled', type);
      this.forget(key);
      return;
    }
    const hints = new Map<string, Hints>();
    for (const { addressType, result } of types) {
      if (typeof result === 'string') this.#disabled(service, result, addressType);
      else hints.set(addressType, result);
    }
    const [first] = hints.keys();
    if (current === undefined && first !== undefined) this.#enabled(service, first);
    if (hints.size > 0) this.#hints.set(key, hints);
    else this.forget(key);
  }

  #enabled(service: core.Service, type: string): void {
    this.events.normal(service, 'TopologyAwareHintsEnabled', `Topology Aware Hints has been enabled, addressType: ${type}`);
  }

  #disabled(service: core.Service, detail: string, type: string): void {
    this.events.warning(service, 'TopologyAwareHintsDisabled', `${detail}, addressType: ${type}`);
  }
}
