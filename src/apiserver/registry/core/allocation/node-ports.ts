import type { Random } from '#base';
import { ABSENT, type Store } from '#store';
import { AllocationError, type ServiceName } from './cluster-ips.ts';

export interface PortRange {
  readonly first: number;
  readonly last: number;
}

export interface NodePortsOptions {
  readonly range: PortRange;
  /** The prefix of all keys in the store. */
  readonly keyPrefix: string;
}

const TRIES = 32;

/** Allocates node ports. Each is a key in the store, so that no two servers allocate the same one. */
export class NodePorts {
  readonly #prefix: string;

  constructor(
    private readonly store: Store,
    private readonly random: Random,
    private readonly options: NodePortsOptions,
  ) {
    this.#prefix = `${options.keyPrefix}/ranges/servicenodeports/`;
  }

  async claim(service: ServiceName, requested?: number, dryRun = false): Promise<number> {
    if (requested !== undefined) return this.#claimExactly(service, requested, dryRun);
    const { first, last } = this.options.range;
    for (let attempt = 0; attempt < TRIES; attempt++) {
      const port = first + this.random.int(last - first + 1);
      if (await this.#take(port, service, dryRun)) return port;
    }
    for (let port = first; port <= last; port++) if (await this.#take(port, service, dryRun)) return port;
    throw new AllocationError('range is full');
  }

  async release(port: number): Promise<void> {
    await this.store.txn({ write: [{ type: 'delete', key: this.#prefix + port }] });
  }

  /** All allocated ports with their services. */
  async all(): Promise<ReadonlyMap<number, string>> {
    const page = await this.store.range({ prefix: this.#prefix });
    if (page.status !== 'ok') return new Map();
    return new Map(page.entries.map(({ key, value }) => [Number(key.slice(this.#prefix.length)), Buffer.from(value).toString()]));
  }

  async #claimExactly(service: ServiceName, port: number, dryRun: boolean): Promise<number> {
    const { first, last } = this.options.range;
    if (port < first || port > last)
      throw new AllocationError(`provided port is not in the valid range. The range of valid ports is ${first}-${last}`);
    if (!(await this.#take(port, service, dryRun))) throw new AllocationError('provided port is already allocated');
    return port;
  }

  async #take(port: number, { namespace, name }: ServiceName, dryRun: boolean): Promise<boolean> {
    const key = this.#prefix + port;
    if (dryRun) return (await this.store.get(key)).entry === undefined;
    const write = [{ type: 'put', key, value: Buffer.from(`${namespace}/${name}`) }] as const;
    return (await this.store.txn({ compare: [{ key, modRevision: ABSENT }], write })).succeeded;
  }
}
