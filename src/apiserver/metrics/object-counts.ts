import type { MetricsRegistry } from '#base';

interface CountedResource {
  readonly group: string;
  readonly resource: string;
  readonly storage: { readonly cache: { readonly isStarted: boolean; readonly size: number } } | undefined;
}

/** Gauges of the number of objects per resource. Returns the function that updates them. */
export function objectCounts(metrics: MetricsRegistry, resources: () => Iterable<CountedResource>): () => void {
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
  let reported = new Map<string, { group: string; resource: string }>();
  return () => {
    const current = new Map<string, { group: string; resource: string }>();
    for (const { group, resource, storage } of resources()) {
      if (!storage?.cache.isStarted) continue;
      const name = qualified(group, resource);
      current.set(name, { group, resource });
      byName.with({ resource: name }).set(storage.cache.size);
      objects.with({ group, resource }).set(storage.cache.size);
    }
    for (const [name, labels] of reported) {
      if (current.has(name)) continue;
      byName.remove({ resource: name });
      objects.remove(labels);
    }
    reported = current;
  };
}

function qualified(group: string, resource: string): string {
  return group === '' ? resource : `${resource}.${group}`;
}
