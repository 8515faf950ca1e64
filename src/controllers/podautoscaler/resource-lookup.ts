import type { Clock } from '#base';
import { type Client, type DiscoveredResource, discover, preferredResources } from '#client';
import { type GroupKind, goQuote } from '#machinery';

/** How long discovery results are cached. */
const FRESH_MS = 30_000;

export interface ResourceLookupDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Finds the resource of a kind through cached discovery. */
export class ResourceLookup {
  #resources: readonly DiscoveredResource[] = [];
  #readAt = -Infinity;

  constructor(private readonly deps: ResourceLookupDeps) {}

  /** Throws when the kind does not exist, even after a fresh discovery. */
  async find(groupKind: GroupKind): Promise<DiscoveredResource> {
    const cached = this.#isFresh() ? this.#lookUp(groupKind) : undefined;
    if (cached !== undefined) return cached;
    await this.#refresh();
    const resource = this.#lookUp(groupKind);
    if (resource !== undefined) return resource;
    throw new Error(`no matches for kind ${goQuote(groupKind.kind)} in group ${goQuote(groupKind.group)}`);
  }

  #lookUp({ group, kind }: GroupKind): DiscoveredResource | undefined {
    return this.#resources.find((resource) => resource.group === group && resource.kind === kind);
  }

  #isFresh(): boolean {
    return this.deps.clock.monotonic() < this.#readAt + FRESH_MS;
  }

  async #refresh(): Promise<void> {
    const { client, clock, signal } = this.deps;
    this.#resources = preferredResources(await discover(client.transport, signal));
    this.#readAt = clock.monotonic();
  }
}
