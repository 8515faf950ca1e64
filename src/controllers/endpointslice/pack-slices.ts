import type { discovery } from '#api';
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
  /** The slice as it should be but for its endpoints; the same object when it is so. */
  refresh(slice: EndpointSlice): EndpointSlice;
}

/**
 * Puts the wanted endpoints, all with the same ports, into slices with as few writes as possible: slices keep what they hold and is still
 * wanted; new endpoints go into slices that change anyway, then into the fullest one that takes them all, then into new ones.
 */
export function packSlices(existing: readonly EndpointSlice[], wanted: readonly Endpoint[], options: PackOptions): SliceChanges {
  const { maxPerSlice, empty } = options;
  const left = new Map(wanted.map((endpoint) => [endpointKey(endpoint), endpoint]));
  const kept = existing.map((slice) => keepWanted(slice, left, options));
  const waiting = [...left.values()];
  const changed = kept.filter(({ isChanged }) => isChanged).sort((a, b) => b.endpoints.length - a.endpoints.length);
  for (const slice of changed) slice.endpoints.push(...waiting.splice(0, Math.max(0, maxPerSlice - slice.endpoints.length)));
  const created: EndpointSlice[] = [];
  while (waiting.length > 0) {
    const fitting = waiting.length < maxPerSlice ? sliceToFill(kept, waiting.length, maxPerSlice) : undefined;
    const next = waiting.splice(0, maxPerSlice);
    if (fitting === undefined) created.push({ ...empty, endpoints: next });
    else {
      fitting.endpoints.push(...next);
      fitting.isChanged = true;
    }
  }
  const emptied = kept.filter(({ endpoints, isChanged }) => isChanged && endpoints.length === 0);
  const updated = kept.filter((slice) => slice.isChanged && slice.endpoints.length > 0);
  return {
    create: created,
    update: updated.map(({ slice, endpoints }) => ({ ...slice, endpoints })),
    remove: emptied.map(({ original }) => original),
  };
}

interface KeptSlice {
  readonly original: EndpointSlice;
  readonly slice: EndpointSlice;
  readonly endpoints: Endpoint[];
  isChanged: boolean;
}

/** What is found is taken out of `left`. */
function keepWanted(original: EndpointSlice, left: Map<string, Endpoint>, { refresh }: PackOptions): KeptSlice {
  const slice = refresh(original);
  let isChanged = slice !== original;
  const endpoints = (original.endpoints ?? []).flatMap((endpoint) => {
    const key = endpointKey(endpoint);
    const wanted = left.get(key);
    left.delete(key);
    if (wanted === undefined || !sameEndpoint(endpoint, wanted)) isChanged = true;
    if (wanted === undefined) return [];
    return sameEndpoint(endpoint, wanted) ? [endpoint] : [{ ...wanted, ...(endpoint.hints && { hints: endpoint.hints }) }];
  });
  return { original, slice, endpoints, isChanged: isChanged || endpoints.length === 0 };
}

function sliceToFill(slices: readonly KeptSlice[], count: number, max: number): KeptSlice | undefined {
  const room = ({ endpoints }: KeptSlice) => max - endpoints.length - count;
  const fitting = slices.filter((slice) => room(slice) >= 0 && slice.endpoints.length > 0);
  return fitting.sort((a, b) => room(a) - room(b))[0];
}

/** Endpoints are the same in these, however else they change. */
function endpointKey({ addresses, hostname, targetRef }: Endpoint): string {
  const { namespace = '', name = '', uid = '' } = targetRef ?? {};
  return [...addresses]
    .sort()
    .concat(hostname ?? '', namespace, name, uid)
    .join('\0');
}

/** Hints are given later. */
function sameEndpoint({ hints: _a, ...a }: Endpoint, { hints: _b, ...b }: Endpoint): boolean {
  return deepEqual(a, b);
}

/** Slices that would go are used for new ones instead: their readers see one change, not two. */
export function reuseRemoved(changes: SliceChanges, mayReuse: (removed: EndpointSlice, created: EndpointSlice) => boolean): SliceChanges {
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
