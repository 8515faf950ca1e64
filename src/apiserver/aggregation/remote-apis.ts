import { type JsonValue, sameJson } from '#machinery';
import type { ResourceTable } from '../registry/generic/resource-table.ts';
import { type APIService, type RemoteApi, remoteApiOf } from './remote-api.ts';

export interface RemoteApiObserver {
  /** The registration was added or changed. */
  changed(api: RemoteApi): void;
  removed(name: string): void;
}

/** The current APIServices by group version. */
export class RemoteApis {
  readonly #table: ResourceTable;
  readonly #observer: RemoteApiObserver;
  readonly #remote = new Map<string, RemoteApi>();
  /** By `GROUP/VERSION`. */
  readonly #byVersion = new Map<string, RemoteApi>();
  readonly #registrations = new Map<string, APIService>();
  #generation = 0;

  constructor(table: ResourceTable, observer: RemoteApiObserver) {
    this.#table = table;
    this.#observer = observer;
  }

  async start(): Promise<void> {
    const { cache } = this.#table.storage('apiregistration.k8s.io', 'v1', 'apiservices');
    const nameOf = (key: string) => key.slice(cache.prefix.length);
    await cache.follow({
      put: (key, object) => this.#put(nameOf(key), object as unknown as APIService),
      remove: (key) => this.#remove(nameOf(key)),
    });
  }

  /** True in most clusters: skips all other lookups. */
  get isEmpty(): boolean {
    return this.#byVersion.size === 0;
  }

  /** Incremented with every change. */
  get generation(): number {
    return this.#generation;
  }

  find(group: string, version: string): RemoteApi | undefined {
    return this.#byVersion.get(`${group}/${version}`);
  }

  named(name: string): RemoteApi | undefined {
    return this.#remote.get(name);
  }

  all(): Iterable<RemoteApi> {
    return this.#remote.values();
  }

  /** Includes local APIServices. */
  registration(name: string): APIService | undefined {
    return this.#registrations.get(name);
  }

  #put(name: string, registration: APIService): void {
    const before = this.#registrations.get(name);
    this.#registrations.set(name, registration);
    const api = remoteApiOf(registration);
    if (api === undefined) {
      if (this.#remote.has(name)) this.#forget(name);
    } else {
      this.#remote.set(name, api);
      this.#byVersion.set(`${api.group}/${api.version}`, api);
    }
    this.#generation++;
    if (api !== undefined && !(before && sameSpec(before, registration))) this.#observer.changed(api);
  }

  #remove(name: string): void {
    this.#registrations.delete(name);
    this.#generation++;
    if (this.#remote.has(name)) this.#forget(name);
  }

  #forget(name: string): void {
    const { group, version } = this.#remote.get(name)!;
    this.#remote.delete(name);
    this.#byVersion.delete(`${group}/${version}`);
    this.#observer.removed(name);
  }
}

function sameSpec(a: APIService, b: APIService): boolean {
  return sameJson(a.spec as unknown as JsonValue, b.spec as unknown as JsonValue);
}
