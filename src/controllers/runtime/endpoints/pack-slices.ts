import type { discovery } from '#api';
import { pushAll } from '#base';
import { deepEqual } from '#machinery';

type EndpointSlice = discovery.EndpointSlice;
type Endpoint = discovery.Endpoint;

export interface SliceChanges {
  readonly create: readonly EndpointSlice[];
  readonly update: readonly EndpointSlice[];
  readonly remove: readonly EndpointSlice[];
}

export interface PackOptions {
  readonly maxPerSlice: number;
  /** A new slice without endpoints. */
  readonly empty: EndpointSlice;
  /** The slice with the desired metadata and ports; the same object if unchanged. */
  refresh(slice: EndpointSlice): EndpointSlice;
}

/**
 * Distributes the desired endpoints, all with the same ports, over slices with as few writes as possible: slices keep their endpoints that are
 * still desired; new endpoints go into slices that change anyway, then into the fullest one that takes them all, then into new ones.
 */
export function packSlices(existing: readonly EndpointSlice[], desired: readonly Endpoint[], options: PackOptions): SliceChanges {
  const { maxPerSlice, empty } = options;
  const left = new Map(desired.map((endpoint) => [endpointKey(endpoint), endpoint]));
  const unchangedSlices = existing.map((slice) => keepDesired(slice, left, options));
  const waiting = [...left.values()];
  const changed = unchangedSlices.filter(({ isChanged }) => isChanged).sort((a, b) => b.endpoints.length - a.endpoints.length);
  for (const slice of changed) pushAll(slice.endpoints, waiting.splice(0, Math.max(0, maxPerSlice - slice.endpoints.length)));
  const created: EndpointSlice[] = [];
  while (waiting.length > 0) {
    const fitting = waiting.length < maxPerSlice ? sliceToFill(unchangedSlices, waiting.length, maxPerSlice) : undefined;
    const next = waiting.splice(0, maxPerSlice);
    if (fitting === undefined) created.push({ ...empty, endpoints: next });
    else {
      pushAll(fitting.endpoints, next);
      fitting.isChanged = true;
    }
  }
  const emptied = unchangedSlices.filter(({ endpoints, isChanged }) => isChanged && endpoints.length === 0);
  const updated = unchangedSlices.filter((slice) => slice.isChanged && slice.endpoints.length > 0);
  return {
    create: created,
    update: updated.map(({ slice, endpoints }) => ({ ...slice, endpoints })),
    remove: emptied.map(({ original }) => original),
  };
}

interface SliceDraft {
  readonly original: EndpointSlice;
  readonly slice: EndpointSlice;
  readonly endpoints: Endpoint[];
  isChanged: boolean;
}

/** Removes the endpoints that the slice keeps from `left`. */
function keepDesired(original: EndpointSlice, left: Map<string, Endpoint>, { refresh }: PackOptions): SliceDraft {
  const slice = refresh(original);
  let isChanged = slice !== original;
  const endpoints = (original.endpoints ?? []).flatMap((endpoint) => {
    const key = endpointKey(endpoint);
    const replacement = left.get(key);
    left.delete(key);
    if (replacement === undefined || !sameEndpoint(endpoint, replacement)) isChanged = true;
    if (replacement === undefined) return [];
    return sameEndpoint(endpoint, replacement) ? [endpoint] : [{ ...replacement, ...(endpoint.hints && { hints: endpoint.hints }) }];
  });
  return { original, slice, endpoints, isChanged: isChanged || endpoints.length === 0 };
}

function sliceToFill(slices: readonly SliceDraft[], count: number, max: number): SliceDraft | undefined {
  const freeEndpoints = ({ endpoints }: SliceDraft) => max - endpoints.length - count;
  const fitting = slices.filter((slice) => freeEndpoints(slice) >= 0 && slice.endpoints.length > 0);
  return fitting.sort((a, b) => freeEndpoints(a) - freeEndpoints(b))[0];
}

/** The identity of an endpoint, independent of its other fields. */
function endpointKey({ addresses, hostname, targetRef }: Endpoint): string {
  const { namespace = '', name = '', uid = '' } = targetRef ?? {};
  return [...addresses]
    .sort()
    .concat(hostname ?? '', namespace, name, uid)
    .join('\0');
}

/** Hints are set later. */
function sameEndpoint({ hints: _a, ...a }: Endpoint, { hints: _b, ...b }: Endpoint): boolean {
  return deepEqual(a, b);
}

/** Turns a deletion and a creation into one update. */
export function reuseDeletedSlices(
  changes: SliceChanges,
  mayReuse: (removed: EndpointSlice, created: EndpointSlice) => boolean,
): SliceChanges {
  const create = [...changes.create];
  const update = [...changes.update];
  const remove = changes.remove.filter((removed) => {
    const index = create.findLastIndex((created) => mayReuse(removed, created));
    if (index < 0) return true;
    const [created] = create.splice(index, 1);
    const { name, uid, resourceVersion, generateName } = removed.metadata;
    const identity = { name, ...(uid && { uid }), ...(resourceVersion && { resourceVersion }), ...(generateName && { generateName }) };
    update.push({ ...created!, metadata: { ...created!.metadata, ...identity } });
    return false;
  });
  return { create, update, remove };
}
