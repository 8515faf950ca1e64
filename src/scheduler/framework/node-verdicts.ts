import type { Status } from './status.ts';

/**
 * What plugins that look at nothing but the pod and the node said about each node, for pods that are alike to them. An answer holds for as long
 * as the node's version: pods of one workload ask only the nodes that changed since the pod before them.
 */
export class NodeVerdicts {
  /** The version at which a node was asked; 0: never. By the place of the node in the snapshot, as all of these. */
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

/** Room for what one search finds, so that none need allocate: what is in it is of the latest search only. */
export class SearchRoom {
  readonly places: Int32Array;
  readonly totals: Float64Array;

  constructor(readonly nodes: number) {
    this.places = new Int32Array(nodes);
    this.totals = new Float64Array(nodes);
  }
}

/** More kinds of pods at a time are rare; the one that did not come for longest is forgotten. */
const MAX_KINDS = 32;

/** The verdicts for each kind of pod that came lately, and room to work in. */
export class VerdictStore {
  readonly #kinds = new Map<string, NodeVerdicts | undefined>();
  #placesVersion = -1;
  #room = new SearchRoom(0);
  #latest: { readonly signature: string; readonly verdicts: NodeVerdicts } | undefined;

  /** Undefined for the first pod of its kind: there may never be another one. */
  for(
    signature: string,
    { nodes, placesVersion }: { readonly nodes: readonly unknown[]; readonly placesVersion: number },
  ): NodeVerdicts | undefined {
    if (placesVersion !== this.#placesVersion) this.#clear(placesVersion);
    if (signature === this.#latest?.signature) return this.#latest.verdicts;
    const isKnown = this.#kinds.has(signature);
    const verdicts = isKnown ? (this.#kinds.get(signature) ?? new NodeVerdicts(nodes.length)) : undefined;
    this.#latest = verdicts && { signature, verdicts };
    // The order of the map is the order of use.
    this.#kinds.delete(signature);
    this.#kinds.set(signature, verdicts);
    if (this.#kinds.size > MAX_KINDS) this.#kinds.delete(this.#kinds.keys().next().value as string);
    return verdicts;
  }

  room(nodes: number): SearchRoom {
    if (this.#room.nodes < nodes) this.#room = new SearchRoom(nodes);
    return this.#room;
  }

  #clear(placesVersion: number): void {
    this.#placesVersion = placesVersion;
    this.#latest = undefined;
    this.#kinds.clear();
  }
}
