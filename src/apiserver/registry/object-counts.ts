import type { MetricsRegistry } from '#base';
import type { ResourceTable } from './resource-table.ts';

/** Tells how many objects of each resource there are. The answer is counted when somebody asks. */
export function objectCounts(metrics: MetricsRegistry, table: ResourceTable): () => void {
  const byName = metrics.gauge({
    name: 'apiserver_storage_objects',
    help: 'Objects in the store, by resource.',
    labels: ['resource'],
  });
  const objects = metrics.gauge({
    name: 'apiserver_resource_objects',
    help: 'Objects in the store, by group and resource.',
    labels: ['group', 'resource'],
  });
  let told = new Map<string, { group: string; resource: string }>();
  return () => {
    const found = new Map<string, { group: string; resource: string }>();
    for (const { group, resource, storage } of table.all()) {
      if (!storage?.cache.isStarted) continue;
      const name = qualified(group, resource);
      found.set(name, { group, resource });
      byName.with({ resource: name }).set(storage.cache.size);
      objects.with({ group, resource }).set(storage.cache.size);
    }
    for (const [name, labels] of told) {
      if (found.has(name)) continue;
      byName.remove({ resource: name });
      objects.remove(labels);
    }
    told = found;
  };
}

function qualified(group: string, resource: string): string {
  return group === '' ? resource : `${resource}.${group}`;
}
