import type { CachedObject } from './cached-object.ts';
import type { ObjectVersion, RemoteConversion } from './object-version.ts';

/** Converts the objects by webhook, so that `as` returns them. Throws if that fails. Undefined if nothing has to be converted. */
export function loadVersions(resource: ObjectVersion, objects: readonly CachedObject[]): Promise<void> | undefined {
  const { remote } = resource;
  if (remote === undefined) return undefined;
  const missing = objects.filter((object) => !object.isReadyFor(resource));
  return missing.length === 0 ? undefined : load(resource, remote, missing);
}

async function load(resource: ObjectVersion, remote: RemoteConversion, objects: readonly CachedObject[]): Promise<void> {
  const converted = await remote.fromStored(objects.map(({ object }) => object));
  objects.forEach((object, index) => {
    object.keep(resource, converted[index]!);
  });
}
