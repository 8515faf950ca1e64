import type { core, discovery } from '#api';
import { parseIp } from '#base';
import type { ProxyEndpoint } from './service-rules.ts';

/** The node properties that rules depend on. */
export interface ProxyNode {
  readonly name: string;
  readonly zone?: string;
}

interface Candidate extends ProxyEndpoint {
  readonly isReady: boolean;
  readonly isServing: boolean;
  readonly isTerminating: boolean;
  /** Undefined without a hint. */
  readonly forZones?: readonly string[];
  readonly forNodes?: readonly string[];
}

/** The endpoints of one service port in one family, deduplicated by address and port across slices. */
export function candidates(
  slices: readonly discovery.EndpointSlice[],
  port: Pick<core.ServicePort, 'name' | 'protocol'>,
  { family, node }: { family: 4 | 6; node: ProxyNode },
): readonly Candidate[] {
  const candidates = new Map<string, Candidate>();
  const addressType = family === 4 ? 'IPv4' : 'IPv6';
  for (const slice of slices) {
    if (slice.addressType !== addressType) continue;
    const slicePort = portsOf(slice).get(portKey(port));
    if (slicePort?.port === undefined || slicePort.port === null) continue;
    for (const endpoint of slice.endpoints ?? []) {
      const candidate = candidateOf(endpoint, { port: slicePort.port, family, node });
      const key = `${candidate?.address} ${candidate?.port}`;
      if (candidate && !candidates.has(key)) candidates.set(key, candidate);
    }
  }
  return [...candidates.values()].sort((a, b) => (a.address < b.address ? -1 : a.address > b.address ? 1 : a.port - b.port));
}

const portTables = new WeakMap<discovery.EndpointSlice, ReadonlyMap<string, discovery.EndpointPort>>();

/** The ports of a slice by name, for lookups by each port of its service. Of duplicates the first counts. */
function portsOf(slice: discovery.EndpointSlice): ReadonlyMap<string, discovery.EndpointPort> {
  let ports = portTables.get(slice);
  if (ports === undefined) {
    ports = new Map((slice.ports ?? []).toReversed().map((port) => [portKey(port), port]));
    portTables.set(slice, ports);
  }
  return ports;
}

function portKey({ name, protocol }: Pick<core.ServicePort, 'name' | 'protocol'>): string {
  return `${protocol ?? 'TCP'} ${name ?? ''}`;
}

function candidateOf(
  { addresses, conditions, nodeName, hints }: discovery.Endpoint,
  { port, family, node }: { port: number; family: 4 | 6; node: ProxyNode },
): Candidate | undefined {
  const [address = ''] = addresses;
  if (parseIp(address)?.family !== family) return undefined;
  const isReady = conditions?.ready ?? true;
  return {
    address,
    port,
    isLocal: nodeName === node.name,
    isReady,
    isServing: conditions?.serving ?? isReady,
    isTerminating: conditions?.terminating ?? false,
    ...(hints?.forZones && { forZones: hints.forZones.map(({ name }) => name) }),
    ...(hints?.forNodes && { forNodes: hints.forNodes.map(({ name }) => name) }),
  };
}

/** Ready endpoints, filtered by topology hints if all have them; else terminating ones that still serve. */
export function clusterEndpoints(all: readonly Candidate[], node: ProxyNode): readonly ProxyEndpoint[] {
  const ready = all.filter(({ isReady }) => isReady);
  if (ready.length === 0) return plain(all.filter(isServingWhileTerminating));
  return plain(byHints(ready, (c) => c.forNodes, node.name) ?? byHints(ready, (c) => c.forZones, node.zone) ?? ready);
}

/** Undefined when an endpoint has no hint, or none matches: hints are ignored then. */
function byHints(
  ready: readonly Candidate[],
  hintsOf: (candidate: Candidate) => readonly string[] | undefined,
  own: string | undefined,
): readonly Candidate[] | undefined {
  if (own === undefined || !ready.every((candidate) => hintsOf(candidate) !== undefined)) return undefined;
  const hinted = ready.filter((candidate) => hintsOf(candidate)?.includes(own));
  return hinted.length > 0 ? hinted : undefined;
}

/** The endpoints on this node: ready ones, else terminating ones that still serve. */
export function localEndpoints(all: readonly Candidate[]): readonly ProxyEndpoint[] {
  const local = all.filter(({ isLocal }) => isLocal);
  const ready = local.filter(({ isReady }) => isReady);
  return plain(ready.length > 0 ? ready : local.filter(isServingWhileTerminating));
}

/**
 * For health checks of balancers: terminating endpoints may still serve, but a balancer has to stop sending connections to them. Each
 * address counts once, whatever its ports.
 */
export function countReadyLocalAddresses(
  slices: readonly discovery.EndpointSlice[],
  { families, node }: { readonly families: readonly (4 | 6)[]; readonly node: ProxyNode },
): number {
  const local = new Set<string>();
  for (const { addressType, ports, endpoints } of slices) {
    if (!families.some((family) => addressType === `IPv${family}`) || !ports?.some(({ port }) => port)) continue;
    for (const { addresses, conditions, nodeName } of endpoints ?? [])
      if (nodeName === node.name && (conditions?.ready ?? true) && addresses[0]) local.add(addresses[0]);
  }
  return local.size;
}

function isServingWhileTerminating({ isServing, isTerminating }: Candidate): boolean {
  return isServing && isTerminating;
}

function plain(selected: readonly Candidate[]): readonly ProxyEndpoint[] {
  return selected.map(({ address, port, isLocal }) => ({ address, port, isLocal }));
}
