import type { Status } from './status.ts';

/**
 * Results of plugins that depend only on the pod and the node, for pods with the same signature. A result is valid as long
 * as the node's generation: pods of one workload evaluate only the nodes that changed since the previous pod.
 */
export class FilterResultCache {
  /** The node generation of the result; 0: none. Indexed by node in the snapshot, as all of these. */
  readonly filteredAt: Uint32Array;
  readonly obstacles: (Status | undefined)[];
  readonly scoredAt: Uint32Array;
  readonly scores: Float64Array;

  constructor(nodes: number) {
    this.filteredAt = new Uint32Array(nodes);
    this.obstacles = new Array<Status | undefined>(nodes).fill(undefined);
    this.scoredAt = new Uint32Array(nodes);
    this.scores = new Float64Array(nodes);
  }
}

/** Buffers reused by every search; they hold the results of the latest one. */
export class SearchBuffers {
  readonly places: Int32Array;
  readonly totals: Float64Array;

  constructor(readonly nodes: number) {
    this.places = new Int32Array(nodes);
    this.totals = new Float64Array(nodes);
  }
}

/** Cached pod signatures at most (LRU). */
const MAX_KINDS = 32;

/** Filter results by pod signature, and reusable search buffers. */
export class FilterResultStore {
  readonly #kinds = new Map<string, FilterResultCache | undefined>();
  #placesVersion = -1;
  #buffers = new SearchBuffers(0);
  #latest: { readonly signature: string; readonly filterResults: FilterResultCache } | undefined;

  /** Undefined for the first pod with a signature: there may be no second one. */
  for(
    signature: string,
    { nodes, placesVersion }: { readonly nodes: readonly unknown[]; readonly placesVersion: number },
  ): FilterResultCache | undefined {
    if (placesVersion !== this.#placesVersion) this.#clear(placesVersion);
    if (signature === this.#latest?.signature) return this.#latest.filterResults;
    const isCached = this.#kinds.has(signature);
    const filterResults = isCached ? (this.#kinds.get(signature) ?? new FilterResultCache(nodes.length)) : undefined;
    this.#latest = filterResults && { signature, filterResults };
    // The map's order is least recently used first.
    this.#kinds.delete(signature);
    this.#kinds.set(signature, filterResults);
    if (this.#kinds.size > MAX_KINDS) this.#kinds.delete(this.#kinds.keys().next().value as string);
    return filterResults;
  }

  buffersFor(nodes: number): SearchBuffers {
    if (this.#buffers.nodes < nodes) this.#buffers = new SearchBuffers(nodes);
    return this.#buffers;
  }

  #clear(placesVersion: number): void {
    this.#placesVersion = placesVersion;
    this.#latest = undefined;
    this.#kinds.clear();
  }
}
