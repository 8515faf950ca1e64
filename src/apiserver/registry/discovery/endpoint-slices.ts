import { discovery, sameValue } from '#api';
import { nameIsDnsSubdomain } from '#machinery';
import type { ResourceStrategy } from '../generic/strategy.ts';

const HOST_NAME = 'kubernetes.io/hostname';

/** deprecatedTopology can no longer be written; a node name in it moves to nodeName. */
function dropTopology(slice: discovery.EndpointSlice, old?: discovery.EndpointSlice): discovery.EndpointSlice {
  if (!slice.endpoints?.some(({ deprecatedTopology }) => deprecatedTopology)) return slice;
  if (old && sameValue(old.endpoints, slice.endpoints)) return slice;
  const oldHosts = new Set((old?.endpoints ?? []).map(({ deprecatedTopology }) => deprecatedTopology?.[HOST_NAME]));
  const endpoints = slice.endpoints.map(({ deprecatedTopology, ...endpoint }) => {
    const name = deprecatedTopology?.[HOST_NAME];
    const moves = name && endpoint.nodeName === undefined && oldHosts.has(name) && nameIsDnsSubdomain(name, false).length === 0;
    return moves ? { ...endpoint, nodeName: name } : endpoint;
  });
  return { ...slice, endpoints };
}

/** Labels increase the generation too, since they name the service. */
function withGeneration(slice: discovery.EndpointSlice, old: discovery.EndpointSlice): discovery.EndpointSlice {
  const isUnchanged =
    slice.addressType === old.addressType &&
    sameValue(slice.endpoints, old.endpoints) &&
    sameValue(slice.ports, old.ports) &&
    sameValue(slice.metadata.labels, old.metadata.labels);
  return isUnchanged ? slice : { ...slice, metadata: { ...slice.metadata, generation: (old.metadata.generation ?? 0) + 1 } };
}

export const endpointSlicesStrategy: ResourceStrategy<discovery.EndpointSlice> = {
  ...discovery.endpointSliceBehaviour,
  prepareForCreate: (slice) => dropTopology({ ...slice, metadata: { ...slice.metadata, generation: 1 } }),
  prepareForUpdate: (slice, old) => dropTopology(withGeneration(slice, old), old),
};
