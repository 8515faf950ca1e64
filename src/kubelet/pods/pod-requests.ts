import { type core, quota } from '#api';
import { Quantity } from '#machinery';

type Amounts = ReadonlyMap<string, Quantity>;

/** Cached: needed for every pod of the node at each admission. */
const requests = new WeakMap<core.PodSpec, Amounts>();

/** A pod's requests by its spec, regardless of pending resizes. */
export function podRequests({ metadata, spec }: core.Pod): Amounts {
  if (spec === undefined) return new Map();
  let amounts = requests.get(spec);
  if (amounts === undefined) {
    amounts = quota.podRequests({ metadata, spec });
    requests.set(spec, amounts);
  }
  return amounts;
}

/** In the unit in which nodes admit pods: thousandths of a CPU, else the plain number. */
export function resourceAmount(resource: string, quantity: Quantity): number {
  return resource === 'cpu' ? quantity.milliValue() : quantity.value();
}

export function podRequest(pod: core.Pod, resource: string): number {
  return resource === 'pods' ? 1 : resourceAmount(resource, podRequests(pod).get(resource) ?? Quantity.zero);
}
