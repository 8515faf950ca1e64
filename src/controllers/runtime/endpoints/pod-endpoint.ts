import { core, type discovery } from '#api';
import { formatIp, parseIp } from '#base';
import { compareBytes } from '#machinery';
import { isPodReady } from '../pod-state.ts';
import type { TargetPort } from './target-ports.ts';

export type AddressType = 'IPv4' | 'IPv6';

/** Whether the pod belongs into a service's endpoints. */
export function isEndpoint(pod: core.Pod, includeTerminating: boolean): boolean {
  if (core.isPodTerminal(pod)) return false;
  if ((pod.status?.podIP ?? '') === '' && (pod.status?.podIPs ?? []).length === 0) return false;
  return includeTerminating || pod.metadata.deletionTimestamp === undefined;
}

export function isHeadless({ spec }: core.Service): boolean {
  return spec?.clusterIP === 'None' || (spec?.clusterIP ?? '') === '';
}

/** Pods of a headless service with a matching subdomain have their own DNS name. */
export function hostnameFor({ spec, metadata }: core.Pod, service: core.Service): string | undefined {
  const isNamed = spec?.hostname && spec.subdomain === service.metadata.name && metadata.namespace === service.metadata.namespace;
  return isNamed ? spec.hostname : undefined;
}

/** Sorted, independent of the order in the service. */
export function slicePorts(targets: readonly TargetPort[]): readonly discovery.EndpointPort[] {
  const ports = targets.map(({ servicePort, port }): discovery.EndpointPort => {
    const { name = '', protocol = 'TCP', appProtocol } = servicePort;
    return { name, port, protocol, ...(appProtocol !== undefined && { appProtocol }) };
  });
  return sortedPorts(ports);
}

export function sortedPorts(ports: readonly discovery.EndpointPort[]): readonly discovery.EndpointPort[] {
  const texts = new Map(ports.map((port) => [port, portText(port)]));
  return [...ports].sort((a, b) => compareBytes(texts.get(a)!, texts.get(b)!));
}

function portText({ name = '', port = 0, protocol = '', appProtocol = '' }: discovery.EndpointPort): string {
  return [name, protocol, String(port).padStart(5, '0'), appProtocol].join('\0');
}

/** Slices with equal keys have equal ports. */
export function portsKey(ports: readonly discovery.EndpointPort[] | undefined): string {
  return sortedPorts(ports ?? [])
    .map(portText)
    .join('\n');
}

export function addressTypes({ spec }: core.Service): readonly AddressType[] {
  const families = (spec?.ipFamilies ?? []).filter((family): family is AddressType => family === 'IPv4' || family === 'IPv6');
  if (families.length > 0) return families;
  if (spec?.clusterIP && spec.clusterIP !== 'None') return [addressTypeOf(spec.clusterIP)];
  return ['IPv4', 'IPv6'];
}

export function addressTypeOf(ip: string): AddressType {
  return parseIp(ip)?.family === 6 ? 'IPv6' : 'IPv4';
}

export interface PodEndpointOptions {
  readonly service: core.Service;
  readonly node: core.Node | undefined;
  readonly addressType: AddressType;
}

export function podEndpoint(pod: core.Pod, { service, node, addressType }: PodEndpointOptions): discovery.Endpoint {
  const serving = isPodReady(pod);
  const terminating = pod.metadata.deletionTimestamp !== undefined;
  const ready = service.spec?.publishNotReadyAddresses === true || (serving && !terminating);
  const zone = node?.metadata.labels?.['topology.kubernetes.io/zone'];
  const hostname = hostnameFor(pod, service);
  const { nodeName } = pod.spec ?? {};
  return {
    addresses: addressesOf(pod, addressType),
    conditions: { ready, serving, terminating },
    targetRef: podReference(pod),
    ...(nodeName && { nodeName }),
    ...(zone && { zone }),
    ...(hostname !== undefined && { hostname }),
  };
}

export function podReference({ metadata }: core.Pod): core.ObjectReference {
  const { namespace = '', name, uid = '' } = metadata;
  return { kind: 'Pod', namespace, name, uid };
}

export function addressesOf({ status }: core.Pod, addressType: AddressType): readonly string[] {
  return (status?.podIPs ?? []).flatMap(({ ip }) => {
    const parsed = parseIp(ip ?? '');
    return parsed !== undefined && addressTypeOf(ip ?? '') === addressType ? [formatIp(parsed)] : [];
  });
}
