import type { core } from '#api';
import { itemNamed } from '#base';
import { Quantity } from '#machinery';
import type { ContainerUse, Observations, PodUse } from './measurements.ts';
import { resourceOf, type StarvedResource, type Threshold, thresholdAmount } from './thresholds.ts';

export interface EvictionMessageFacts {
  readonly resource: StarvedResource;
  readonly pod: core.Pod;
  readonly use: PodUse | undefined;
  /** The met thresholds. */
  readonly thresholds: readonly Threshold[];
  readonly observations: Observations;
}

export interface EvictionMessage {
  readonly message: string;
  readonly annotations: Readonly<Record<string, string>>;
}

/** Upstream's eviction message (including the trailing space). */
export function evictionMessage(facts: EvictionMessageFacts): EvictionMessage {
  const { resource, pod, use } = facts;
  const low = `The node was low on resource: ${resource}. ${thresholdText(facts)}`;
  if (use === undefined) return { message: low, annotations: {} };
  const podExcess = wholePodExcess(pod, use, resource);
  const containers = containerExcesses(pod, use, resource);
  const text = ({ kind, name, used, request }: Excess) =>
    `${kind} ${name} was using ${used}, request is ${request}, has larger consumption of ${resource}. `;
  return {
    message: low + [...(podExcess ? [podExcess] : []), ...containers].map(text).join(''),
    annotations: {
      ...(podExcess && { offending_pod: podExcess.name, offending_pod_usage: podExcess.used }),
      offending_containers: containers.map(({ name }) => name).join(),
      offending_containers_usage: containers.map(({ used }) => used).join(),
      starved_resource: resource,
    },
  };
}

function thresholdText({ resource, thresholds, observations }: EvictionMessageFacts): string {
  for (const { signal, value } of thresholds) {
    const observed = observations.get(signal);
    if (resourceOf(signal) !== resource || observed === undefined) continue;
    const quantity = 'text' in value ? value.text : Quantity.of(thresholdAmount(value, observed.capacity), 'BinarySI').toString();
    return `Threshold quantity: ${quantity}, available: ${amountText(observed.available, resource)}. `;
  }
  return '';
}

interface Excess {
  readonly kind: 'Pod' | 'Container';
  readonly name: string;
  readonly used: string;
  readonly request: string;
}

function wholePodExcess({ metadata, spec }: core.Pod, { memoryBytes }: PodUse, resource: StarvedResource): Excess | undefined {
  const request = spec?.resources?.requests?.memory;
  if (resource !== 'memory' || request === undefined || memoryBytes === undefined) return undefined;
  return { kind: 'Pod', name: metadata.name, used: amountText(memoryBytes, resource), request: Quantity.parse(request).toString() };
}

function containerExcesses({ spec }: core.Pod, use: PodUse, resource: StarvedResource): readonly Excess[] {
  const specs = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])];
  return use.containers.flatMap((container) => {
    const own = itemNamed(specs, container.name);
    const used = containerAmount(container, resource);
    if (own === undefined || used === undefined) return [];
    const request = Quantity.parse(own.resources?.requests?.[resource] ?? '0');
    if (used <= request.value()) return [];
    return [{ kind: 'Container' as const, name: container.name, used: amountText(used, resource), request: request.toString() }];
  });
}

function containerAmount({ memoryBytes, rootfsBytes, logBytes }: ContainerUse, resource: StarvedResource): number | undefined {
  if (resource === 'memory') return memoryBytes;
  if (resource !== 'ephemeral-storage' || rootfsBytes === undefined || logBytes === undefined) return undefined;
  return rootfsBytes + logBytes;
}

function amountText(amount: number, resource: StarvedResource): string {
  return Quantity.of(amount, resource === 'memory' || resource === 'ephemeral-storage' ? 'BinarySI' : 'DecimalSI').toString();
}
