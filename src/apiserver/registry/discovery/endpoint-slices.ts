import { discovery } from '#api';
import { deepEqual, type JsonValue, nameIsDnsSubdomain } from '#machinery';
import type { ResourceStrategy } from '../strategy.ts';

const HOST_NAME = 'kubernetes.io/hostname';

function same(a: unknown, b: unknown): boolean {
  return deepEqual(a as JsonValue | undefined, b as JsonValue | undefined);
}

/** The old topology field cannot be written any more; a node's name that was only there moves to its own field. */
function dropTopology(slice: discovery.EndpointSlice, old?: discovery.EndpointSlice): discovery.EndpointSlice {
  if (!slice.endpoints?.some(({ deprecatedTopology }) => deprecatedTopology)) return slice;
  if (old && same(old.endpoints, slice.endpoints)) return slice;
  const known = new Set((old?.endpoints ?? []).map(({ deprecatedTopology }) => deprecatedTopology?.[HOST_NAME]));
  const endpoints = slice.endpoints.map(({ deprecatedTopology, ...endpoint }) => {
    const name = deprecatedTopology?.[HOST_NAME];
    const moves = name && endpoint.nodeName === undefined && known.has(name) && nameIsDnsSubdomain(name, false).length === 0;
    return moves ? { ...endpoint, nodeName: name } : endpoint;
  });
  return { ...slice, endpoints };
}

/** Proxies follow the generation, so labels count: they say which service the slice is of. */
function withGeneration(slice: discovery.EndpointSlice, old: discovery.EndpointSlice): discovery.EndpointSlice {
  const isSame =
    slice.addressType === old.addressType &&
    same(slice.endpoints, old.endpoints) &&
    same(slice.ports, old.ports) &&
    same(slice.metadata.labels, old.metadata.labels);
  return isSame ? slice : { ...slice, metadata: { ...slice.metadata, generation: (old.metadata.generation ?? 0) + 1 } };
}

export const endpointSlicesStrategy: ResourceStrategy<discovery.EndpointSlice> = {
  ...discovery.endpointSliceBehaviour,
  prepareForCreate: (slice) => dropTopology({ ...slice, metadata: { ...slice.metadata, generation: 1 } }),
  prepareForUpdate: (slice, old) => dropTopology(withGeneration(slice, old), old),
};
