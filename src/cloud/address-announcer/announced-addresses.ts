import { createHash } from 'node:crypto';
import type { core, discovery } from '#api';
import { networkContains, parseCidr, parseIp } from '#base';
import { currentAddresses } from '../local-load-balancer/assign-addresses.ts';

const EXCLUDED_LABEL = 'node.kubernetes.io/exclude-from-external-load-balancers';

export interface AnnouncedState {
  readonly services: readonly core.Service[];
  readonly nodes: readonly core.Node[];
  readonly ranges: readonly string[];
  /** Of a service. */
  readonly slices: (service: core.Service) => readonly discovery.EndpointSlice[];
}

/** The load balancer addresses that this node announces. Computed independently and consistently by every node: exactly one announces each. */
export function announcedAddresses(nodeName: string, { services, nodes, ranges, slices }: AnnouncedState): readonly string[] {
  const networks = ranges.map(parseCidr).filter((range) => range !== undefined);
  const able = nodes.filter(takesTraffic).map(({ metadata }) => metadata?.name ?? '');
  return services.flatMap((service) => {
    const addresses = currentAddresses(service).filter((text) => {
      const address = parseIp(text);
      return address !== undefined && networks.some((network) => networkContains(network, address));
    });
    if (service.spec?.type !== 'LoadBalancer' || addresses.length === 0) return [];
    const candidates = candidatesFor(service, able, slices);
    return addresses.filter((address) => chosen(address, candidates) === nodeName);
  });
}

/** externalTrafficPolicy Local: only nodes with a ready endpoint are candidates. */
function candidatesFor(service: core.Service, able: readonly string[], slices: AnnouncedState['slices']): readonly string[] {
  if (service.spec?.externalTrafficPolicy !== 'Local') return able;
  const nodeNames = new Set<string | undefined>();
  for (const { endpoints } of slices(service))
    for (const { conditions, nodeName } of endpoints ?? []) if (conditions?.ready !== false) nodeNames.add(nodeName);
  return able.filter((name) => nodeNames.has(name));
}

/** Ready, with a real pod network: simulated nodes have none. */
function takesTraffic({ metadata, status }: core.Node): boolean {
  const has = (type: string, value: string) =>
    status?.conditions?.some((condition) => condition.type === type && condition.status === value);
  const isExcluded = metadata?.labels?.[EXCLUDED_LABEL] !== undefined || metadata?.deletionTimestamp !== undefined;
  return !isExcluded && has('Ready', 'True') === true && has('NetworkUnavailable', 'False') === true;
}

/** Rendezvous hashing: when a node disappears, only its own addresses move. */
function chosen(address: string, nodes: readonly string[]): string | undefined {
  const rank = (node: string) => createHash('sha256').update(`${address} ${node}`).digest('hex');
  return nodes.toSorted((a, b) => (rank(a) < rank(b) ? 1 : -1))[0];
}
