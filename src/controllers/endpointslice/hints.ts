import type { discovery } from '#api';
import { deepEqual } from '#machinery';

type EndpointSlice = discovery.EndpointSlice;
type Endpoint = discovery.Endpoint;

/** The slice with the hints of the service's trafficDistribution; the same object if unchanged. */
export function withHints(slice: EndpointSlice, distribution: string | undefined): EndpointSlice {
  // The server stores empty endpoints as null.
  const endpoints = slice.endpoints ?? [];
  const hinted = endpoints.map((endpoint) => hint(endpoint, hintsFor(endpoint, distribution)));
  return hinted.every((endpoint, i) => endpoint === endpoints[i]) ? slice : { ...slice, endpoints: hinted };
}

/** Traffic prefers ready endpoints in the same zone or on the same node. */
function hintsFor({ conditions, zone, nodeName }: Endpoint, distribution: string | undefined): discovery.EndpointHints | undefined {
  if (conditions?.ready === false) return undefined;
  const isSameNode = distribution === 'PreferSameNode';
  const isSameZone = distribution === 'PreferClose' || distribution === 'PreferSameZone' || isSameNode;
  const forZones = isSameZone && zone ? [{ name: zone }] : [];
  const forNodes = isSameNode && nodeName ? [{ name: nodeName }] : [];
  if (forZones.length + forNodes.length === 0) return undefined;
  return { ...(forZones.length > 0 && { forZones }), ...(forNodes.length > 0 && { forNodes }) };
}

function hint(endpoint: Endpoint, hints: discovery.EndpointHints | undefined): Endpoint {
  if (deepEqual(endpoint.hints, hints)) return endpoint;
  const { hints: _, ...rest } = endpoint;
  return hints ? { ...rest, hints } : rest;
}
