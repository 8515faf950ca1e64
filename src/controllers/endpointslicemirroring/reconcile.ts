import { core, type discovery } from '#api';
import { formatIp, parseIp } from '#base';
import { deepEqual } from '#machinery';
import { controllerRef } from '../runtime/controller-ref.ts';
import { MANAGED_BY, SERVICE_NAME } from '../runtime/endpoints/endpoint-slices.ts';
import { reuseDeletedSlices, type SliceChanges } from '../runtime/endpoints/pack-slices.ts';
import { type AddressAtPort, packSubsets } from '../runtime/endpoints/pack-subsets.ts';
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
  const { groups, invalid, excess } = wantedGroups(endpoints, maxPerSubset);
  const keyOf = (slice: EndpointSlice) => `${slice.addressType}\n${portsKey(slice.ports)}`;
  const results = [...groups].map(([key, group]) => {
    const [first, ...others] = existing.filter((slice) => keyOf(slice) === key);
    const slice = sliceFor(endpoints, group, first);
    if (first === undefined) return { create: [slice], update: [], remove: others };
    return { create: [], update: slice === first ? [] : [slice], remove: others };
  });
  const obsolete = existing.filter((slice) => !groups.has(keyOf(slice)));
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

function wantedGroups({ subsets = [] }: core.Endpoints, maxPerSubset: number) {
  const groups = new Map<string, Group>();
  let invalid = 0;
  let excess = 0;
  for (const { addresses = [], notReadyAddresses = [], ports = [] } of packSubsets(subsets.flatMap(entriesOf))) {
    const slicePorts = sortedPorts(ports.map(toSlicePort));
    const all = [
      ...addresses.map((address) => endpointOf(address, true)),
      ...notReadyAddresses.map((address) => endpointOf(address, false)),
    ];
    const valid = all.filter((endpoint) => endpoint !== undefined);
    invalid += all.length - valid.length;
    excess += Math.max(0, valid.length - maxPerSubset);
    for (const endpoint of valid.slice(0, maxPerSubset)) {
      const addressType = addressTypeOf(endpoint.addresses[0] ?? '');
      const key = `${addressType}\n${portsKey(slicePorts)}`;
      const group = groups.get(key) ?? { addressType, ports: slicePorts, endpoints: [] };
      groups.set(key, group);
      group.endpoints.push(endpoint);
    }
  }
  return { groups, invalid, excess };
}

function entriesOf({ addresses = [], notReadyAddresses = [], ports = [] }: core.EndpointSubset): readonly AddressAtPort[] {
  const at = (port: core.EndpointPort | undefined) => [
    ...addresses.map((address) => ({ address, isReady: true, port })),
    ...notReadyAddresses.map((address) => ({ address, isReady: false, port })),
  ];
  return ports.length === 0 ? at(undefined) : ports.flatMap(at);
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
