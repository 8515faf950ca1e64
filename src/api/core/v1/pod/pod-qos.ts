import { oncePerValue, Quantity } from '#machinery';
import type { Container } from '../container/container.ts';
import type { ResourceRequirements } from '../container/resource-requirements.ts';
import type { ResourceList } from '../resource-list/resource-list.ts';
import type { PodSpec } from './pod-spec.ts';

export type QOSClass = 'Guaranteed' | 'Burstable' | 'BestEffort';

const COMPUTE = ['cpu', 'memory'];

/** The QoS class: Guaranteed if the requests of every container (or of the pod) equal its limits, BestEffort if there are none. */
export const computePodQOS: (spec: PodSpec) => QOSClass = oncePerValue(qosClassOf);

function qosClassOf(spec: PodSpec): QOSClass {
  const totals = { requests: new Map<string, Quantity>(), limits: new Map<string, Quantity>() };
  let isGuaranteed = true;
  for (const { resources = {} } of budgets(spec)) {
    addPositive(totals.requests, resources.requests);
    addPositive(totals.limits, resources.limits);
    if (!COMPUTE.every((name) => isPositive(resources.limits?.[name]))) isGuaranteed = false;
  }
  if (totals.requests.size === 0 && totals.limits.size === 0) return 'BestEffort';
  return isGuaranteed && sameTotals(totals.requests, totals.limits) ? 'Guaranteed' : 'Burstable';
}

interface Budget {
  readonly resources?: ResourceRequirements;
}

// Pod-level resources, if set, decide alone.
function budgets(spec: PodSpec): readonly Budget[] {
  const { resources } = spec;
  if (resources) return [{ resources }];
  const containers: readonly Container[] = spec.containers ?? [];
  return spec.initContainers?.length ? [...spec.initContainers, ...containers] : containers;
}

function addPositive(totals: Map<string, Quantity>, list: ResourceList | undefined): void {
  if (!list) return;
  for (const name of COMPUTE) {
    const text = list[name];
    if (text === undefined) continue;
    const quantity = Quantity.parse(text);
    if (quantity.sign > 0) totals.set(name, totals.get(name)?.add(quantity) ?? quantity);
  }
}

function isPositive(text: string | undefined): boolean {
  return text !== undefined && Quantity.parse(text).sign > 0;
}

function sameTotals(requests: ReadonlyMap<string, Quantity>, limits: ReadonlyMap<string, Quantity>): boolean {
  if (requests.size !== limits.size) return false;
  return [...requests].every(([name, request]) => limits.get(name)?.equals(request) ?? false);
}
