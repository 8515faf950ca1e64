import type { ServedResource } from '../registry/served-resource.ts';
import type { CachedObject } from './cached-object.ts';

/**
 * Has the objects ready in the version that the resource serves, where that has to be asked for elsewhere: `as` gives it from then on. Throws
 * when it cannot be had. Undefined when there is nothing to wait for.
 */
export function loadVersions(resource: ServedResource, objects: readonly CachedObject[]): Promise<void> | undefined {
  const { remote } = resource;
  if (remote === undefined) return undefined;
  const missing = objects.filter((object) => !object.isReadyFor(resource));
  return missing.length === 0 ? undefined : load(resource, remote, missing);
}

async function load(
  resource: ServedResource,
  remote: NonNullable<ServedResource['remote']>,
  objects: readonly CachedObject[],
): Promise<void> {
  const converted = await remote.fromStored(objects.map(({ object }) => object));
  objects.forEach((object, index) => {
    object.keep(resource, converted[index]!);
  });
}
