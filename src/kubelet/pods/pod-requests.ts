import { type core, quota } from '#api';
import type { Quantity } from '#machinery';

/** In the units of `resourceAmount`, rounded up for each pod: as upstream adds them. */
type Amounts = ReadonlyMap<string, number>;

/** Cached: needed for every pod of the node at each admission. */
const requests = new WeakMap<core.PodSpec, Amounts>();

/** A pod's requests by its spec, regardless of pending resizes. */
export function podRequests({ metadata, spec }: core.Pod): Amounts {
  if (spec === undefined) return new Map();
  let amounts = requests.get(spec);
  if (amounts === undefined) {
    const quantities = quota.podRequests({ metadata, spec });
    amounts = new Map(Array.from(quantities, ([resource, quantity]) => [resource, resourceAmount(resource, quantity)]));
    requests.set(spec, amounts);
  }
  return amounts;
}

/** In the unit in which nodes admit pods: thousandths of a CPU, else the plain number. */
export function resourceAmount(resource: string, quantity: Quantity): number {
  return resource === 'cpu' ? quantity.milliValue() : quantity.value();
}

export function podRequest(pod: core.Pod, resource: string): number {
  return resource === 'pods' ? 1 : (podRequests(pod).get(resource) ?? 0);
}
