import { decodeObject, type ObjectSchema } from '#machinery';
import type { ServedResource } from './served-resource.ts';

/** The status of an object that has none yet: its `always` fields with their zero values. */
export function emptyStatusOf(resource: ServedResource): unknown {
  const status = resource.schema.fieldsByName.get('status')?.schema as ObjectSchema | undefined;
  return status?.type === 'object' ? decodeObject(status, {}).object : {};
}
