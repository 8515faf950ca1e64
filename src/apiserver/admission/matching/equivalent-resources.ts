import type { ResourceTable } from '../../registry/generic/resource-table.ts';
import type { ServedResource } from '../../registry/generic/served-resource.ts';

/** Resources that serve the same objects: other versions of a resource, and the same resource in other groups. */
export class EquivalentResources {
  readonly #table: ResourceTable;
  #generation = -1;
  #byStorage = new Map<object, ServedResource[]>();

  constructor(table: ResourceTable) {
    this.#table = table;
  }

  /** Without the resource itself. */
  of(resource: ServedResource, subresource: string): readonly ServedResource[] {
    if (resource.storage === undefined) return [];
    if (this.#generation !== this.#table.generation) this.#rebuild();
    const all = this.#byStorage.get(resource.storage) ?? [];
    return all.filter((other) => !isSame(other, resource) && (subresource === '' || other.subresources.has(subresource)));
  }

  #rebuild(): void {
    this.#byStorage = new Map();
    this.#generation = this.#table.generation;
    for (const resource of this.#table.all()) {
      if (resource.storage === undefined) continue;
      const cached = this.#byStorage.get(resource.storage);
      if (cached === undefined) this.#byStorage.set(resource.storage, [resource]);
      else cached.push(resource);
    }
  }
}

function isSame(a: ServedResource, b: ServedResource): boolean {
  return a.group === b.group && a.version === b.version && a.resource === b.resource;
}
