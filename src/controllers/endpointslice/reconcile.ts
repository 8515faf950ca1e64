import { core, type discovery } from '#api';
import { deepEqual } from '#machinery';
import { controllerRef } from '../runtime/controller-ref.ts';
import { MANAGED_BY, SERVICE_NAME } from '../runtime/endpoints/endpoint-slices.ts';
import { type PackOptions, packSlices, reuseDeletedSlices, type SliceChanges } from '../runtime/endpoints/pack-slices.ts';
import {
  type AddressType,
  addressTypes,
  isEndpoint,
  isHeadless,
  podEndpoint,
  portsKey,
  slicePorts,
} from '../runtime/endpoints/pod-endpoint.ts';
import { TargetPorts } from '../runtime/endpoints/target-ports.ts';
import { podNamePrefix } from '../runtime/pod-control.ts';
import { withHints } from './hints.ts';
import { hintZones, sharesByZone, type ZoneHints } from './zone-hints.ts';
import type { ZoneShares } from './zone-shares.ts';

type EndpointSlice = discovery.EndpointSlice;

const HEADLESS = 'service.kubernetes.io/headless';
export const MANAGER = 'endpointslice-controller.k8s.io';
const RESERVED: ReadonlySet<string> = new Set([SERVICE_NAME, MANAGED_BY, HEADLESS]);

export interface ObservedService {
  readonly service: core.Service;
  readonly pods: readonly core.Pod[];
  /** Slices managed by this controller. */
  readonly slices: readonly EndpointSlice[];
  node(name: string): core.Node | undefined;
  /** CPU shares of the zones, for services with topology-aware routing. */
  shares?(): ZoneShares | undefined;
}

/** The result of topology hints for an address type: endpoints per zone, or the reason why there are none. */
export interface TypeHints {
  readonly addressType: AddressType;
  readonly result: ZoneHints['result'];
}

export interface ReconciledSlices extends SliceChanges {
  /** Pods that were left out because their node is not known (yet). */
  readonly skipped: readonly string[];
  readonly zoneHints: readonly TypeHints[];
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
    zoneHints: results.flatMap(({ zoneHints }) => zoneHints),
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
  const keys = new Map(owned.map((slice) => [slice, portsKey(slice.ports)]));
  const packed = [...groups].map(([key, { ports, endpoints }]) =>
    packSlices(
      owned.filter((slice) => keys.get(slice) === key),
      endpoints,
      options(ports),
    ),
  );
  const obsolete = slices.filter((slice) => !groups.has(keys.get(slice) ?? NOT_OWNED));
  const changes = withPlaceholder(
    {
      create: packed.flatMap(({ create }) => create),
      update: packed.flatMap(({ update }) => update),
      remove: [...packed.flatMap(({ remove }) => remove), ...obsolete],
    },
    slices,
    newSlice(service, addressType, []),
  );
  const settled = reuseDeletedSlices(changes, (removed) => isOwnedBy(removed, service));
  const touched = new Set([...settled.update, ...settled.remove].map(({ metadata }) => metadata.name));
  const untouched = slices.filter(({ metadata }) => !touched.has(metadata.name));
  if (!sharesByZone(service)) return { ...hintAll(settled, untouched, service.spec?.trafficDistribution), skipped, zoneHints: [] };
  const { changes: hinted, result } = hintZones(settled, untouched, observed.shares?.());
  return { ...hinted, skipped, zoneHints: [{ addressType, result }] };
}

/** The key of no ports. */
const NOT_OWNED = '\0';

function groupByPorts({ service, pods, node }: ObservedService, addressType: AddressType) {
  const groups = new Map<string, PortGroup>();
  const skipped: string[] = [];
  const targets = new TargetPorts(service, (targetPorts) => {
    const ports = slicePorts(targetPorts);
    return { ports, key: portsKey(ports) };
  });
  for (const pod of pods) {
    if (!isEndpoint(pod, true)) continue;
    const { ports, key } = targets.of(pod);
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

/** A service always has at least one slice, possibly empty. */
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

function hintAll(changes: SliceChanges, untouched: readonly EndpointSlice[], distribution: string | undefined): SliceChanges {
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
