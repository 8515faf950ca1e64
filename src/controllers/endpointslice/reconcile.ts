import { core, type discovery } from '#api';
import { deepEqual } from '#machinery';
import { controllerRef } from '../runtime/controller-ref.ts';
import { podNamePrefix } from '../runtime/pod-control.ts';
import { withHints } from './hints.ts';
import { type PackOptions, packSlices, reuseRemoved, type SliceChanges } from './pack-slices.ts';
import { type AddressType, addressTypes, isEndpoint, isHeadless, podEndpoint, portsKey, slicePorts } from './pod-endpoint.ts';

type EndpointSlice = discovery.EndpointSlice;

export const SERVICE_NAME = 'kubernetes.io/service-name';
export const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by';
const HEADLESS = 'service.kubernetes.io/headless';
export const MANAGER = 'endpointslice-controller.k8s.io';
const RESERVED: ReadonlySet<string> = new Set([SERVICE_NAME, MANAGED_BY, HEADLESS]);

export interface ObservedService {
  readonly service: core.Service;
  readonly pods: readonly core.Pod[];
  /** Those that this controller manages. */
  readonly slices: readonly EndpointSlice[];
  node(name: string): core.Node | undefined;
}

export interface ReconciledSlices extends SliceChanges {
  /** Pods that were left out because their node is not known (yet). */
  readonly skipped: readonly string[];
}

export function reconcileSlices(observed: ObservedService, maxPerSlice: number): ReconciledSlices {
  const { service, slices } = observed;
  const types = addressTypes(service);
  const results = types.map((type) => reconcileType(observed, type, maxPerSlice));
  const foreign = slices.filter(({ addressType }) => !types.includes(addressType as AddressType));
  return {
    create: results.flatMap(({ create }) => create),
    update: results.flatMap(({ update }) => update),
    remove: [...results.flatMap(({ remove }) => remove), ...foreign],
    skipped: [...new Set(results.flatMap(({ skipped }) => skipped))],
  };
}

interface PortGroup {
  readonly ports: readonly discovery.EndpointPort[];
  readonly endpoints: discovery.Endpoint[];
}

function reconcileType(observed: ObservedService, addressType: AddressType, maxPerSlice: number): ReconciledSlices {
  const { service } = observed;
  const slices = observed.slices.filter((slice) => slice.addressType === addressType);
  const owned = slices.filter((slice) => isOwnedBy(slice, service));
  const { groups, skipped } = groupByPorts(observed, addressType);
  const options = (ports: readonly discovery.EndpointPort[]): PackOptions => ({
    maxPerSlice,
    empty: newSlice(service, addressType, ports),
    refresh: (slice) => withLabels(slice, service),
  });
  const packed = [...groups].map(([key, { ports, endpoints }]) =>
    packSlices(
      owned.filter((slice) => portsKey(slice.ports) === key),
      endpoints,
      options(ports),
    ),
  );
  const obsolete = slices.filter((slice) => !owned.includes(slice) || !groups.has(portsKey(slice.ports)));
  const changes = withPlaceholder(
    {
      create: packed.flatMap(({ create }) => create),
      update: packed.flatMap(({ update }) => update),
      remove: [...packed.flatMap(({ remove }) => remove), ...obsolete],
    },
    slices,
    newSlice(service, addressType, []),
  );
  const hinted = hintAll(
    reuseRemoved(changes, (removed) => isOwnedBy(removed, service)),
    slices,
    service.spec?.trafficDistribution,
  );
  return { ...hinted, skipped };
}

function groupByPorts({ service, pods, node }: ObservedService, addressType: AddressType) {
  const groups = new Map<string, PortGroup>();
  const skipped: string[] = [];
  for (const pod of pods) {
    if (!isEndpoint(pod, true)) continue;
    const ports = slicePorts(service, pod);
    const key = portsKey(ports);
    const group = groups.get(key) ?? { ports, endpoints: [] };
    groups.set(key, group);
    const onNode = node(pod.spec?.nodeName ?? '');
    if (onNode === undefined && !service.spec?.publishNotReadyAddresses) {
      skipped.push(pod.metadata.name);
      continue;
    }
    const endpoint = podEndpoint(pod, { service, node: onNode, addressType });
    if (endpoint.addresses.length > 0) group.endpoints.push(endpoint);
  }
  return { groups, skipped };
}

/** A service always has a slice, if an empty one. */
function withPlaceholder(changes: SliceChanges, existing: readonly EndpointSlice[], placeholder: EndpointSlice): SliceChanges {
  if (existing.length !== changes.remove.length || changes.create.length > 0) return changes;
  const [only, ...others] = changes.remove;
  if (only !== undefined && others.length === 0 && isPlaceholder(only, placeholder)) return { ...changes, remove: [] };
  return { ...changes, create: [placeholder] };
}

function isPlaceholder(slice: EndpointSlice, placeholder: EndpointSlice): boolean {
  const { labels, ownerReferences } = slice.metadata;
  const isSame = deepEqual(labels, placeholder.metadata.labels) && deepEqual(ownerReferences, placeholder.metadata.ownerReferences);
  return isSame && (slice.endpoints ?? []).length === 0 && (slice.ports ?? []).length === 0;
}

function hintAll(changes: SliceChanges, existing: readonly EndpointSlice[], distribution: string | undefined): SliceChanges {
  const touched = new Set([...changes.update, ...changes.remove].map(({ metadata }) => metadata.name));
  const untouched = existing.filter(({ metadata }) => !touched.has(metadata.name));
  const rehinted = untouched.map((slice) => withHints(slice, distribution)).filter((slice) => !untouched.includes(slice));
  return {
    create: changes.create.map((slice) => withHints(slice, distribution)),
    update: [...changes.update.map((slice) => withHints(slice, distribution)), ...rehinted],
    remove: changes.remove,
  };
}

function isOwnedBy({ metadata }: EndpointSlice, service: core.Service): boolean {
  return (metadata.ownerReferences ?? []).some(({ uid, kind }) => uid === service.metadata.uid && kind === 'Service');
}

function newSlice(service: core.Service, addressType: AddressType, ports: readonly discovery.EndpointPort[]): EndpointSlice {
  const { name, namespace = '' } = service.metadata;
  const metadata = {
    name: '',
    generateName: podNamePrefix(name),
    namespace,
    labels: labelsFor(service),
    ownerReferences: [controllerRef(service, core.Service)],
  };
  return { metadata, addressType, endpoints: [], ports };
}

function labelsFor(service: core.Service): Readonly<Record<string, string>> {
  const own = Object.entries(service.metadata.labels ?? {}).filter(([key]) => !RESERVED.has(key));
  const headless = isHeadless(service) ? { [HEADLESS]: '' } : {};
  return { ...Object.fromEntries(own), ...headless, [SERVICE_NAME]: service.metadata.name, [MANAGED_BY]: MANAGER };
}

function withLabels(slice: EndpointSlice, service: core.Service): EndpointSlice {
  const labels = labelsFor(service);
  return deepEqual(slice.metadata.labels, labels) ? slice : { ...slice, metadata: { ...slice.metadata, labels } };
}
