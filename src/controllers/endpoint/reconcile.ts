import type { core } from '#api';
import { deepEqual } from '#machinery';
import { type AddressAtPort, boundedPairs, packSubsets } from '../runtime/endpoints/pack-subsets.ts';
import {
  type AddressType,
  addressesOf,
  addressTypeOf,
  hostnameFor,
  isEndpoint,
  isHeadless,
  podReference,
} from '../runtime/endpoints/pod-endpoint.ts';
import { type TargetPort, TargetPorts } from '../runtime/endpoints/target-ports.ts';
import { isPodReady } from '../runtime/pod-state.ts';

const MANAGED_BY = 'endpoints.kubernetes.io/managed-by';
const HEADLESS = 'service.kubernetes.io/headless';
const OVER_CAPACITY = 'endpoints.kubernetes.io/over-capacity';
const MAX_CAPACITY = 1000;

/** The desired Endpoints of a service; the same object if unchanged. */
export function reconcileEndpoints(service: core.Service, pods: readonly core.Pod[], existing: core.Endpoints | undefined): core.Endpoints {
  const all = packSubsets(boundedPairs(pairsOf(service, pods)));
  const { subsets, isTruncated } = truncate(all);
  const labels = labelsFor(service);
  const { [OVER_CAPACITY]: _, ...annotations } = existing?.metadata.annotations ?? {};
  const desiredAnnotations = isTruncated ? { ...annotations, [OVER_CAPACITY]: 'truncated' } : annotations;
  const { name, namespace = '' } = service.metadata;
  const isSame =
    existing !== undefined &&
    deepEqual(existing.subsets, subsets) &&
    deepEqual(existing.metadata.labels, labels) &&
    deepEqual(existing.metadata.annotations, desiredAnnotations);
  if (isSame) return existing;
  const { annotations: _old, ...metadata } = existing?.metadata ?? { name, namespace };
  const annotated = { ...metadata, labels, ...(Object.keys(desiredAnnotations).length > 0 && { annotations: desiredAnnotations }) };
  return { ...existing, metadata: annotated, subsets };
}

function labelsFor(service: core.Service): Readonly<Record<string, string>> {
  const { [HEADLESS]: _, ...labels } = service.metadata.labels ?? {};
  return { ...labels, ...(isHeadless(service) && { [HEADLESS]: '' }), [MANAGED_BY]: 'endpoint-controller' };
}

function* pairsOf(service: core.Service, pods: readonly core.Pod[]): Iterable<readonly AddressAtPort[]> {
  const targets = new TargetPorts(service, (ports) => ports.map(endpointPort));
  for (const pod of pods) yield addressesAtPorts(service, pod, targets);
}

function endpointPort({ servicePort: { name, protocol = 'TCP', appProtocol }, port }: TargetPort): core.EndpointPort {
  return { ...(name && { name }), port, protocol, ...(appProtocol !== undefined && { appProtocol }) };
}

function addressesAtPorts(
  service: core.Service,
  pod: core.Pod,
  targets: TargetPorts<readonly core.EndpointPort[]>,
): readonly AddressAtPort[] {
  const publishesAll = service.spec?.publishNotReadyAddresses === true;
  if (!isEndpoint(pod, publishesAll)) return [];
  const address = addressFor(service, pod);
  if (address === undefined) return [];
  const isReady = publishesAll || isPodReady(pod);
  const ports = service.spec?.ports ?? [];
  if (ports.length === 0 && isHeadless(service)) return [{ address, isReady, port: undefined }];
  return targets.of(pod).map((port) => ({ address, isReady, port }));
}

/** The pod's address of the service's primary family; the pod's first when the service has none. */
function addressFor(service: core.Service, pod: core.Pod): core.EndpointAddress | undefined {
  const [family] = service.spec?.ipFamilies ?? [];
  const ip =
    family === undefined ? pod.status?.podIP : addressesOf(pod, (family as AddressType) ?? addressTypeOf(pod.status?.podIP ?? ''))[0];
  if (!ip) return undefined;
  const { nodeName } = pod.spec ?? {};
  const hostname = hostnameFor(pod, service);
  return { ip, ...(hostname !== undefined && { hostname }), ...(nodeName && { nodeName }), targetRef: podReference(pod) };
}

/** At most 1000 addresses, taken proportionally from all subsets, ready ones first. */
function truncate(subsets: readonly core.EndpointSubset[]): {
  readonly subsets: readonly core.EndpointSubset[];
  readonly isTruncated: boolean;
} {
  const ready = subsets.reduce((sum, { addresses = [] }) => sum + addresses.length, 0);
  const notReady = subsets.reduce((sum, { notReadyAddresses = [] }) => sum + notReadyAddresses.length, 0);
  if (ready + notReady <= MAX_CAPACITY) return { subsets, isTruncated: false };
  let readyLeft = Math.min(ready, MAX_CAPACITY);
  let notReadyLeft = MAX_CAPACITY - readyLeft;
  const cut = subsets.flatMap(({ addresses = [], notReadyAddresses = [], ports }) => {
    const readyAddresses = addresses.slice(0, Math.min(readyLeft, Math.ceil((addresses.length / Math.max(1, ready)) * MAX_CAPACITY)));
    const others = notReadyAddresses.slice(0, notReadyLeft);
    readyLeft -= readyAddresses.length;
    notReadyLeft -= others.length;
    if (readyAddresses.length + others.length === 0) return [];
    return [
      {
        ...(readyAddresses.length > 0 && { addresses: readyAddresses }),
        ...(others.length > 0 && { notReadyAddresses: others }),
        ...(ports && { ports }),
      },
    ];
  });
  return { subsets: cut, isTruncated: true };
}
