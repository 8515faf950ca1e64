import { decodeObject, type JsonObject, type ObjectSchema } from '#machinery';
import type { ServedResource } from './served-resource.ts';

/** The status of an object that has none yet: its `always` fields with their zero values. */
export function emptyStatusOf(resource: ServedResource): unknown {
  const status = resource.schema.fieldsByName.get('status')?.schema as ObjectSchema | undefined;
  if (status?.type !== 'object') return {};
  let empty = EMPTY.get(status);
  if (empty === undefined) {
    empty = decodeObject(status, {}).object;
    EMPTY.set(status, empty);
  }
  return empty;
}

const EMPTY = new WeakMap<ObjectSchema, JsonObject>();
