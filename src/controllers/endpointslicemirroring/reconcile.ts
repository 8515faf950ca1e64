import { core, type discovery } from '#api';
import { formatIp, parseIp } from '#base';
import { deepEqual } from '#machinery';
import { controllerRef } from '../runtime/controller-ref.ts';
import { MANAGED_BY, SERVICE_NAME } from '../runtime/endpoints/endpoint-slices.ts';
import { reuseDeletedSlices, type SliceChanges } from '../runtime/endpoints/pack-slices.ts';
import { type AddressAtPort, boundedPairs, packSubsets } from '../runtime/endpoints/pack-subsets.ts';
import { type AddressType, addressTypeOf, portsKey, sortedPorts } from '../runtime/endpoints/pod-endpoint.ts';
import { TRIGGER_TIME } from '../runtime/endpoints/trigger-times.ts';
import { podNamePrefix } from '../runtime/pod-control.ts';

type EndpointSlice = discovery.EndpointSlice;

export const MIRROR_MANAGER = 'endpointslicemirroring-controller.k8s.io';
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

export interface MirroredSlices extends SliceChanges {
  readonly invalid: number;
  /** Addresses left out because a subset had too many. */
  readonly excess: number;
}

/** The slices that mirror user-managed Endpoints: one for each set of ports and address family. */
export function mirrorEndpoints(endpoints: core.Endpoints, existing: readonly EndpointSlice[], maxPerSubset: number): MirroredSlices {
  const { groups, invalid, excess } = desiredGroups(endpoints, maxPerSubset);
  const keyOf = (slice: EndpointSlice) => `${slice.addressType}\n${portsKey(slice.ports)}`;
  const byKey = new Map<string, EndpointSlice[]>();
  for (const slice of existing) {
    const alike = byKey.get(keyOf(slice));
    if (alike === undefined) byKey.set(keyOf(slice), [slice]);
    else alike.push(slice);
  }
  const results = [...groups].map(([key, group]) => {
    const [first, ...others] = byKey.get(key) ?? [];
    const slice = sliceFor(endpoints, group, first);
    if (first === undefined) return { create: [slice], update: [], remove: others };
    return { create: [], update: slice === first ? [] : [slice], remove: others };
  });
  const obsolete = [...byKey].flatMap(([key, slices]) => (groups.has(key) ? [] : slices));
  const changes = {
    create: results.flatMap(({ create }) => create),
    update: results.flatMap(({ update }) => update),
    remove: [...results.flatMap(({ remove }) => remove), ...obsolete],
  };
  return { ...reuseDeletedSlices(changes, (removed, created) => removed.addressType === created.addressType), invalid, excess };
}

interface Group {
  readonly addressType: AddressType;
  readonly ports: readonly discovery.EndpointPort[];
  readonly endpoints: discovery.Endpoint[];
}

function desiredGroups({ subsets = [] }: core.Endpoints, maxPerSubset: number) {
  const groups = new Map<string, Group>();
  let invalid = 0;
  let excess = 0;
  for (const { addresses = [], notReadyAddresses = [], ports = [] } of packSubsets(boundedPairs(pairsOf(subsets)))) {
    const slicePorts = sortedPorts(ports.map(toSlicePort));
    const ofPorts = portsKey(slicePorts);
    const all = [
      ...addresses.map((address) => endpointOf(address, true)),
      ...notReadyAddresses.map((address) => endpointOf(address, false)),
    ];
    const valid = all.filter((endpoint) => endpoint !== undefined);
    invalid += all.length - valid.length;
    excess += Math.max(0, valid.length - maxPerSubset);
    for (const endpoint of valid.slice(0, maxPerSubset)) {
      const addressType = addressTypeOf(endpoint.addresses[0] ?? '');
      const key = `${addressType}\n${ofPorts}`;
      const group = groups.get(key) ?? { addressType, ports: slicePorts, endpoints: [] };
      groups.set(key, group);
      group.endpoints.push(endpoint);
    }
  }
  return { groups, invalid, excess };
}

function* pairsOf(subsets: readonly core.EndpointSubset[]): Iterable<readonly AddressAtPort[]> {
  for (const { addresses = [], notReadyAddresses = [], ports = [] } of subsets) {
    const at: readonly (core.EndpointPort | undefined)[] = ports.length === 0 ? [undefined] : ports;
    for (const address of addresses) yield at.map((port) => ({ address, isReady: true, port }));
    for (const address of notReadyAddresses) yield at.map((port) => ({ address, isReady: false, port }));
  }
}

function toSlicePort({ name = '', port, protocol = 'TCP', appProtocol }: core.EndpointPort): discovery.EndpointPort {
  return { name, port, protocol, ...(appProtocol !== undefined && { appProtocol }) };
}

function endpointOf({ ip, hostname, nodeName, targetRef }: core.EndpointAddress, ready: boolean): discovery.Endpoint | undefined {
  const parsed = parseIp(ip);
  if (parsed === undefined) return undefined;
  return {
    addresses: [formatIp(parsed)],
    conditions: { ready },
    ...(targetRef && { targetRef }),
    ...(nodeName !== undefined && { nodeName }),
    ...(hostname && { hostname }),
  };
}

function sliceFor(endpoints: core.Endpoints, { addressType, ports, endpoints: desired }: Group, existing: EndpointSlice | undefined) {
  const { name, namespace = '', annotations = {} } = endpoints.metadata;
  const { [TRIGGER_TIME]: _trigger, [LAST_APPLIED]: _applied, ...handedOn } = annotations;
  const metadata = {
    name: '',
    generateName: podNamePrefix(name),
    namespace,
    labels: { ...endpoints.metadata.labels, [SERVICE_NAME]: name, [MANAGED_BY]: MIRROR_MANAGER },
    ...(Object.keys(handedOn).length > 0 && { annotations: handedOn }),
    ownerReferences: [controllerRef(endpoints, core.Endpoints)],
  };
  if (existing === undefined) return { metadata, addressType, endpoints: desired, ports };
  const isSame =
    deepEqual(existing.metadata.labels, metadata.labels) &&
    deepEqual(existing.metadata.annotations, handedOn) &&
    deepEqual(existing.metadata.ownerReferences, metadata.ownerReferences) &&
    deepEqual(existing.endpoints, desired);
  return isSame
    ? existing
    : { ...existing, metadata: { ...existing.metadata, ...metadata, name: existing.metadata.name }, endpoints: desired };
}
