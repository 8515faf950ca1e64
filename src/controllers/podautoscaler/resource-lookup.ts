import type { Clock } from '#base';
import { type Client, type DiscoveredResource, discover, preferredResources } from '#client';
import { type GroupKind, goQuote } from '#machinery';

/** What was discovered is taken to be true for this long. */
const FRESH_MS = 30_000;

export interface ResourceLookupDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Finds the resource of a kind by asking the server what there is, though not each time. */
export class ResourceLookup {
  #known: readonly DiscoveredResource[] = [];
  #readAt = -Infinity;

  constructor(private readonly deps: ResourceLookupDeps) {}

  /** Throws when there is no such kind, even now. */
  async find(wanted: GroupKind): Promise<DiscoveredResource> {
    const known = this.#isFresh() ? this.#lookUp(wanted) : undefined;
    if (known !== undefined) return known;
    await this.#refresh();
    const found = this.#lookUp(wanted);
    if (found !== undefined) return found;
    throw new Error(`no matches for kind ${goQuote(wanted.kind)} in group ${goQuote(wanted.group)}`);
  }

  #lookUp({ group, kind }: GroupKind): DiscoveredResource | undefined {
    return this.#known.find((resource) => resource.group === group && resource.kind === kind);
  }

  #isFresh(): boolean {
    return this.deps.clock.monotonic() < this.#readAt + FRESH_MS;
  }

  async #refresh(): Promise<void> {
    const { client, clock, signal } = this.deps;
    this.#known = preferredResources(await discover(client.transport, signal));
    this.#readAt = clock.monotonic();
  }
}
