import { maxQuantity, Quantity, setKey } from '#machinery';
import type { Container } from '../container/container.ts';
import type { PodSpec } from '../pod/pod-spec.ts';

export type ResourceList = Readonly<Record<string, string>>;

/** Quantities that are surely whole thousandths: the common case, which needs no arithmetic. */
const WHOLE_MILLIS = /^[0-9]+(?:m|[kKMGTPE]i?)?$/;

/** Resources are kept to a thousandth: what is finer is rounded up. */
export function roundResources(list: ResourceList): ResourceList {
  let rounded: Record<string, string> | undefined;
  for (const name of Object.keys(list)) {
    const text = list[name] ?? '0';
    if (WHOLE_MILLIS.test(text)) continue;
    const next = Quantity.parse(text).roundUp(-3).toString();
    if (next === text) continue;
    rounded ??= { ...list };
    setKey(rounded, name, next);
  }
  return rounded ?? list;
}

/** The list with what it lacks of another; the same list when it lacks nothing. */
export function fillResources(list: ResourceList | undefined, more: ResourceList): ResourceList | undefined {
  let filled: Record<string, string> | undefined;
  for (const name of Object.keys(more)) {
    if (list !== undefined && Object.hasOwn(list, name)) continue;
    filled ??= { ...list };
    setKey(filled, name, more[name] ?? '0');
  }
  return filled ?? list;
}

type Totals = Map<string, Quantity>;

/**
 * What the containers of a pod ask for together: the sum of those that run at the same time, or what the hungriest step of initialisation
 * needs, whichever is more. Containers that start with initialisation and stay (restartPolicy Always) count from their start on.
 */
export function aggregateContainerResources(spec: PodSpec, kind: 'requests' | 'limits'): ReadonlyMap<string, Quantity> {
  const running: Totals = new Map();
  for (const container of spec.containers ?? []) addAll(running, resourcesOf(container, kind));
  const initial: Totals = new Map();
  const sidecars: Totals = new Map();
  for (const container of spec.initContainers ?? []) {
    const own = resourcesOf(container, kind);
    if (container.restartPolicy === 'Always') {
      addAll(running, own);
      addAll(sidecars, own);
      raise(initial, sidecars);
    } else {
      raise(initial, sum(own, sidecars));
    }
  }
  raise(running, initial);
  return running;
}

function resourcesOf(container: Container, kind: 'requests' | 'limits'): Totals {
  const list = container.resources?.[kind] ?? {};
  return new Map(Object.keys(list).map((name) => [name, Quantity.parse(list[name] ?? '0')]));
}

function addAll(totals: Totals, more: Totals): void {
  for (const [name, quantity] of more) totals.set(name, totals.get(name)?.add(quantity) ?? quantity);
}

function sum(a: Totals, b: Totals): Totals {
  const totals = new Map(a);
  addAll(totals, b);
  return totals;
}

function raise(totals: Totals, to: Totals): void {
  for (const [name, quantity] of to) {
    const current = totals.get(name);
    totals.set(name, current === undefined ? quantity : maxQuantity(current, quantity));
  }
}
